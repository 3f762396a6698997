/**
 * Records the histories of a release: `node test/replay/record.ts RELEASE`. It is run once a release, when a history of it is wanted;
 * what was recorded is never written again.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { historiesFolder } from "./history.ts";
import { richSession } from "./rich-session.ts";

const [release] = process.argv.slice(2);
if (release === undefined) throw new Error("name the release");
const folder = join(historiesFolder, release);
mkdirSync(folder, { recursive: true });
const story = richSession();
const lines = story.entries.map(({ partition, offset, time, key, text }) => JSON.stringify({ partition, offset, time, key, value: text }));
writeFileSync(join(folder, "rich.jsonl"), `${lines.join("\n")}\n`, { flag: "wx" });
const expected = { sessionId: story.state.sessionId, digest: story.state.digest, verdicts: story.words, status: story.status };
writeFileSync(join(folder, "rich.expected.json"), `${JSON.stringify(expected, null, 2)}\n`, { flag: "wx" });
