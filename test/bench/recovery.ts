/**
 * How soon a session goes on when the process that carries it is gone: killed and started again, killed beside another one,
 * stopped beside another one. Steps of 25 ms, so that a process dies inside of one; times by the steps' own telling.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { type Figure, median } from "./figures.ts";
import { type Place, Serving, nowMs } from "./serving.ts";

const stepMs = 25;
const dieIn = 5;

function placeIn(folder: string, name: string): Place {
  const place = mkdtempSync(join(folder, `${name}-`));
  mkdirSync(join(place, "data"), { recursive: true });
  // Enough of them that no session is over before its process dies, however slowly the other one starts.
  return { folder: place, stepMs, iterations: 1_000 };
}

export async function measureRestart(folder: string, rounds: number): Promise<Figure[]> {
  const next: number[] = [];
  const ready: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const place = placeIn(folder, "restart");
    const first = await Serving.start(place);
    await first.submit("killed");
    await first.step(({ iteration, kind }) => iteration === dieIn && kind === "maker", "the step in which it dies");
    const killedMs = nowMs();
    await first.end("SIGKILL");
    const second = await Serving.start(place);
    ready.push(nowMs() - killedMs);
    const step = await second.step(({ pid }) => pid === second.pid, "a step of the second process");
    next.push(step.atMs - killedMs);
    await second.end("SIGTERM");
  }
  const what = `kill -9 and start again at once, median of ${rounds}`;
  return [
    { part: "kill and restart", name: "next step begins", value: median(next), unit: "ms", what },
    { part: "kill and restart", name: "port open", value: median(ready), unit: "ms", what },
  ];
}

export async function measureTakeover(folder: string, { rounds, signal }: { readonly rounds: number; readonly signal: "SIGKILL" | "SIGSTOP" }): Promise<Figure[]> {
  const next: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const place = placeIn(folder, "takeover");
    const first = await Serving.start(place);
    await first.submit("taken-over");
    await first.step(({ iteration }) => iteration >= 1, "the first step");
    const second = await Serving.start(place);
    const now = (await first.step(({ atMs }) => atMs > nowMs() - 2 * stepMs, "a step")).iteration;
    await first.step(({ iteration, kind }) => iteration > now && kind === "maker", "a step to die in");
    const signalledMs = nowMs();
    first.signal(signal);
    const step = await second.step(({ pid, atMs }) => pid === second.pid && atMs > signalledMs, "a step of the other process");
    next.push(step.atMs - signalledMs);
    await first.end("SIGKILL");
    await second.end("SIGTERM");
  }
  const part = signal === "SIGKILL" ? "takeover, killed" : "takeover, silent";
  const after = signal === "SIGKILL" ? "kill -9" : "SIGSTOP";
  return [{ part, name: "next step begins", value: median(next), unit: "ms", what: `${after} of the owner beside a live second process, median of ${rounds}` }];
}
