// Stands in for an agent: it gets one JSON on standard input (task, goal, what the last check said) and changes the files here.
// An agent's command line takes its place in loopledger.config.ts; it finds the task as text in the file $LOOPLEDGER_PROMPT_FILE.
import { readFileSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";

const { task, iteration } = JSON.parse(await text(process.stdin));
process.stdout.write(`iteration ${iteration}: ${task.split("\n")[0]}\n`);

const file = new URL("src/greeting.mjs", import.meta.url);
const before = readFileSync(file, "utf8");
const after = before.replace("Helo", "Hello");
writeFileSync(file, after);

const summary = after === before ? "found nothing to change" : "spelled the greeting right";
writeFileSync(process.env.LOOPLEDGER_RESULT, JSON.stringify({ summary }));
