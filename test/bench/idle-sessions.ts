/**
 * What sessions that only wait cost a process that starts: from its start to the first step of a new session, on a ledger with
 * many sessions that are alive and have nothing to do, against an empty one. Both have views, as a process leaves them that served before.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { SessionId } from "@loopledger/shared/core/brand";
import { openSqliteReadModel } from "@loopledger/shared/sqlite";
import { appendAct, submitGoal } from "@loopledger/shared/runtime";
import { startProjector } from "@loopledger/projector/projector";
import { benchGoal, openLoop } from "./embedded-loop.ts";
import { type Figure, median } from "./figures.ts";
import { Serving, dataOf } from "./serving.ts";

const person = { kind: "human", id: "bench" } as const;

async function preparedFolder(parent: string, idle: number): Promise<string> {
  const folder = mkdtempSync(join(parent, "idle-"));
  const data = dataOf({ folder });
  mkdirSync(data, { recursive: true });
  const loop = await openLoop(data, { carries: false });
  const views = openSqliteReadModel({ folder: data, ledgerId: loop.engine.ledger.ledgerId });
  const projector = await startProjector({ ...loop.engine, views });
  for (let from = 0; from < idle; from += 500) {
    await Promise.all(Array.from({ length: Math.min(500, idle - from) }, async (_, at) => {
      const id = `idle-${from + at}` as SessionId;
      await submitGoal(loop.engine, benchGoal(), { actor: person, id });
      const verdict = await appendAct(loop.engine, id, { type: "pause_requested", data: { now: true, reason: "idle" }, actor: person });
      if (verdict.kind !== "accepted") throw new Error(`the pause of ${id} was not accepted`);
    }));
  }
  await projector.caughtUp();
  await projector.stop();
  await views.close();
  await loop.stop();
  return folder;
}

async function startToFirstStep(folder: string, id: string): Promise<{ readonly stepMs: number; readonly rssMb: number }> {
  const serving = await Serving.start({ folder, iterations: 1 });
  await serving.submit(id);
  const step = await serving.step(({ sessionId }) => sessionId === id, "the new session's first step");
  const stepMs = step.atMs - serving.startedMs;
  const rssMb = serving.rssMb();
  await serving.end("SIGTERM");
  return { stepMs, rssMb };
}

export async function measureIdleSessions({ folder, idle, rounds }: { readonly folder: string; readonly idle: number; readonly rounds: number }): Promise<Figure[]> {
  const [empty, full] = [await preparedFolder(folder, 0), await preparedFolder(folder, idle)];
  const runs = { empty: [] as number[], full: [] as number[], rss: [] as number[] };
  await startToFirstStep(empty, "warm");
  for (let round = 0; round < rounds; round++) {
    runs.empty.push((await startToFirstStep(empty, `new-${round}`)).stepMs);
    const run = await startToFirstStep(full, `new-${round}`);
    runs.full.push(run.stepMs);
    runs.rss.push(run.rssMb);
  }
  const what = `process start to a new session's first step, median of ${rounds}`;
  return [
    { part: "idle sessions", name: "empty ledger", value: median(runs.empty), unit: "ms", what },
    { part: "idle sessions", name: `${idle} idle sessions`, value: median(runs.full), unit: "ms", what },
    { part: "idle sessions", name: "against empty", value: median(runs.full) / median(runs.empty), unit: "x", what },
    { part: "idle sessions", name: "RSS", value: median(runs.rss), unit: "MB", what: `with ${idle} idle sessions, at that first step` },
  ];
}
