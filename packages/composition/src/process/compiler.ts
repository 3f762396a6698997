/**
 * How V8 compiles what a process that stays runs. A session's step passes through many functions, each of them called a few times a
 * step: V8's second optimizing compiler takes them up after some thousand calls, when a minute's work is just begun, and its compiling,
 * on threads beside the loop, then costs more than the calls of the next ten thousand steps gain by it. So it comes later. The first
 * optimizing compiler and loops that run long, a handler's own say, are compiled as ever.
 */
import { setFlagsFromString } from "node:v8";

/** Calls of a function before it is compiled for the second time; V8's own number is 3,000. */
const callsBeforeTurbofan = 100_000;

/** Called once at a process's start, before anything is hot. */
export function compileLater(): void {
  setFlagsFromString(`--invocation-count-for-turbofan=${callsBeforeTurbofan}`);
}
