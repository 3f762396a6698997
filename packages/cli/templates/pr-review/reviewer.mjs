// Stands in for an agent: says of each changed file how many lines come and go, then asks to have the review posted.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const parts = readFileSync("change.diff", "utf8").split(/^--- a\//m).slice(1);
const lines = parts.map((part) => {
  const [name, , ...rest] = part.split("\n");
  const count = (mark) => rest.filter((line) => line.startsWith(mark)).length;
  return `- ${name}: ${count("+")} lines added, ${count("-")} removed`;
});
const review = `${lines.join("\n")}\n`;
writeFileSync("review.md", review);
writeFileSync(process.env.LOOPLEDGER_RESULT, JSON.stringify({ summary: `reviewed ${parts.length} files` }));
const posted = spawnSync("loopledger", ["step", "tool", "post_review", "--args", JSON.stringify({ review }), "--key", "review:change.diff"], { stdio: "inherit" });
// Where a decision is awaited the engine knows; this run simply ends, and runs again after it.
process.exit(posted.status ?? 1);
