/** Runs the project's `prepare` program before the first step. What it prints is shown only where it fails. */
import { spawn } from "node:child_process";
import type { EnginePlace } from "../engine/engine-options.ts";
import { exitCodes } from "../exit-codes.ts";
import { Refusal } from "../refusals.ts";
import { makeDataFolder } from "../ports/data-folder.ts";
import type { Project } from "./project-shape.ts";

const defaultSeconds = 120;
const outputMax = 4_000;

/** Throws `prepare_failed` where it leaves with another code than 0, cannot start, or takes too long. */
export async function prepareProject(place: EnginePlace, project: Project): Promise<void> {
  if (project.prepare === null) return;
  makeDataFolder(place.dataFolder);
  const { exec: [command = "", ...words], timeoutSeconds = defaultSeconds } = project.prepare;
  const child = spawn(command, words, { cwd: project.folder, env: { ...place.environment.variables, LOOPLEDGER_DATA: place.dataFolder }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => { output = `${output}${chunk}`.slice(-outputMax); });
  const ended = await new Promise<string | null>((resolve) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      resolve(`took longer than ${timeoutSeconds} s`);
    }, timeoutSeconds * 1000);
    // `exit`, not `close`: what it leaves running in the background may keep its output open.
    child.once("exit", (code, signal) => resolve(code === 0 ? null : `left with ${code ?? signal}`));
    child.once("error", (error) => resolve(error.message));
    child.once("exit", () => clearTimeout(timer));
  });
  child.stdout.destroy();
  child.stderr.destroy();
  if (ended === null) return;
  throw new Refusal("prepare_failed", `The project's prepare program ${ended}: ${[command, ...words].join(" ")}`, {
    exitCode: exitCodes.failed, next: "Run it by hand; the project starts once it leaves with 0.", faults: output.trim() === "" ? [] : [output.trim()],
  });
}
