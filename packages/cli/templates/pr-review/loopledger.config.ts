import { defineConfig, exec } from "loopledger";

export default defineConfig({
  makers: {
    /** Writes the review, then asks to have it posted. Put an agent in its place that reads the change. */
    reviewer: exec(["node", "reviewer.mjs"], { timeoutSeconds: 600 }),
  },
  checks: {
    /** Every changed file is spoken of, and the review has been posted. */
    posted: exec(["node", "posted.mjs"], { timeoutSeconds: 60 }),
  },
  tools: {
    /** A person sees the review before it goes out; the same key never posts it twice. */
    post_review: exec(["node", "post-review.mjs"], { contract: "idempotent", approval: "before" }),
  },
});
