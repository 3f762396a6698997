// The tool: stands in for the call that posts a review. The same key gives the same comment.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";

await text(process.stdin);
const key = process.env.LOOPLEDGER_IDEMPOTENCY_KEY;
const known = existsSync("posted.json") ? JSON.parse(readFileSync("posted.json", "utf8")) : null;
if (known?.key !== key) writeFileSync("posted.json", `${JSON.stringify({ key, comment: 1 })}\n`);
