// The check: names what is missing as the next steps, so that each iteration has one thing to do.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const listed = existsSync("triage.md") ? readFileSync("triage.md", "utf8") : "";
const missing = readdirSync("inbox").sort().filter((name) => listed.split(`| ${name} |`).length !== 2);
writeFileSync(process.env.LOOPLEDGER_VALIDATION, JSON.stringify({
  verdict: missing.length === 0 ? "PASS" : "FAIL",
  evidence: { remaining: missing.length },
  next_steps: missing.map((name) => `Sort inbox/${name}`),
}));
