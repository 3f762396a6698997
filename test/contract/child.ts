/** Starts and ends the processes of a test, and reads what they say line by line. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Child {
  readonly pid: number;
  readonly lines: readonly string[];
  /** Waits until it has said a line for which `found` holds, and gives the first such line. */
  said(found: (line: string) => boolean): Promise<string>;
  /** Ends it by a signal and waits until it is gone and has been read to its end. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

const program = join(import.meta.dirname, "../support/ledger-process.ts");

export async function startChild(...args: readonly string[]): Promise<Child> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const { lines, changed, closed } = follow(child);
  const said = async (found: (line: string) => boolean): Promise<string> => {
    for (let from = 0; ; ) {
      const line = lines.slice(from).find(found);
      if (line !== undefined) return line;
      if (closed.isOver) throw new Error(`The process ended without saying it; it said ${lines.slice(-3).join(" | ")}`);
      from = lines.length;
      await changed();
    }
  };
  await said((line) => line === "ready");
  return {
    pid: child.pid as number,
    lines,
    said,
    kill: async (signal) => {
      child.kill(signal);
      await closed.promise;
    },
  };
}

function follow(child: ChildProcess) {
  const lines: string[] = [];
  let wake = Promise.withResolvers<void>();
  const notify = (): void => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    lines.push(line);
    notify();
  });
  const closed = { isOver: false, promise: once(child, "close") };
  void closed.promise.then(() => {
    closed.isOver = true;
    notify();
  });
  return { lines, changed: () => wake.promise, closed };
}
