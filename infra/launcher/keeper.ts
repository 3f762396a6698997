// `keeper.ts FOLDER PID START`: waits until that process has ended, then ends what runs in the folder and removes it.
import { rmSync } from "node:fs";
import { down } from "./launcher.ts";
import { isAlive } from "./process-identity.ts";
import { pause } from "./waiting.ts";

const [folder, pid, start] = process.argv.slice(2);
if (folder === undefined || pid === undefined || start === undefined) throw new Error("A folder, a pid and its start are needed.");
const owner = { pid: Number(pid), start };
while (isAlive(owner)) await pause(250);
// biome-ignore lint/style/noProcessEnv: this process is started with the environment that the parts were started with.
await down({ folder, variables: process.env, tell: (text) => void process.stdout.write(`${text}\n`) });
// Whoever wants parts for as long as it lives gives them a folder of their own.
rmSync(folder, { recursive: true, force: true });
