// Preloaded by run.mjs: ends this process in order when the one that started it is gone, however it went.
// File descriptor 3 is one end of a pipe whose other end only the starter holds, so a close is its death.
import { Socket } from "node:net";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  // Forked children inherit these arguments, and their descriptor 3 is something else.
  process.execArgv = process.execArgv.filter((argument) => !argument.includes("leash.mjs"));
  const pipe = new Socket({ fd: 3 });
  pipe.on("error", () => undefined);
  pipe.on("close", () => process.kill(process.pid, "SIGTERM"));
  pipe.resume();
  pipe.unref();
}
