// The check: every changed file stands in the review, and the review has been posted.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const files = [...readFileSync("change.diff", "utf8").matchAll(/^\+\+\+ b\/(.+)$/gm)].map((match) => match[1]);
const review = existsSync("review.md") ? readFileSync("review.md", "utf8") : "";
const missing = files.filter((file) => !review.includes(file));
const isPosted = existsSync("posted.json");
const steps = [...missing.map((file) => `Review ${file}`), ...(isPosted ? [] : ["Post the review"])];
writeFileSync(process.env.LOOPLEDGER_VALIDATION, JSON.stringify({
  verdict: steps.length === 0 ? "PASS" : "FAIL",
  evidence: { remaining: steps.length },
  next_steps: steps,
}));
