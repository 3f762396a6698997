// Stands in for an agent: sorts the first message that the list lacks, by words that stand in it.
import { appendFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const listed = existsSync("triage.md") ? readFileSync("triage.md", "utf8") : "";
const next = readdirSync("inbox").sort().find((name) => !listed.includes(`| ${name} |`));
if (next === undefined) process.exit(0);
const message = readFileSync(`inbox/${next}`, "utf8");
const what = /urgent|error|broken/i.test(message) ? "today" : /\?/.test(message) ? "answer" : "file";
if (listed === "") writeFileSync("triage.md", "| message | what to do |\n|---|---|\n");
appendFileSync("triage.md", `| ${next} | ${what} |\n`);
writeFileSync(process.env.LOOPLEDGER_RESULT, JSON.stringify({ summary: `${next}: ${what}` }));
