import { defineConfig, exec } from "loopledger";

export default defineConfig({
  makers: {
    /** Sorts one message a run. Put an agent in its place that reads and judges. */
    sorter: exec(["node", "sorter.mjs"], { timeoutSeconds: 600 }),
  },
  checks: {
    /** Every message of the inbox stands in the list, once. */
    complete: exec(["node", "complete.mjs"], { timeoutSeconds: 60 }),
  },
});
