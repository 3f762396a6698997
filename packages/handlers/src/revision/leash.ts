/**
 * Programs of a revision that end with the process that takes it: in a large repository `git add` runs for a minute, and one whose
 * process was killed would read, and write copies, for nobody.
 *
 * A shell leads the program's group and waits beside it on a pipe from this process. Where the pipe closes while the program still
 * runs, this process is gone: the group is ended and the folder that it wrote to is removed.
 */
import { spawn } from "node:child_process";

const leash = [
  "exec 3<&0 </dev/null",
  // It alone hears no SIGTERM. Git takes its lock files away on one, so it gets the time before the rest is killed.
  "(trap '' TERM; read -r line <&3; kill -TERM 0; sleep 1; rm -rf -- \"$0\"; kill -KILL 0) >/dev/null 2>&1 &",
  "exec 3<&-",
  '"$@"',
  "code=$?",
  "kill -KILL $!",
  "exit $code",
].join("\n");

export interface Leashed {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Goes with the program where this process does not live to remove it. */
  readonly scratch: string;
}

/** What the program printed. Throws where it could not be started, or ended otherwise than by 0. */
export function runLeashed({ argv, cwd, environment, scratch }: Leashed): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", leash, scratch, ...argv], { cwd, env: environment, detached: true, stdio: ["pipe", "pipe", "ignore"] });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    child.stdin.on("error", () => undefined);
    child.on("error", reject);
    child.on("close", (code) => {
      child.stdin.destroy();
      if (code === 0) resolve(printed);
      else reject(new Error(`${argv[0]} ended with ${code}`));
    });
  });
}
