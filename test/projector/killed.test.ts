import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { randomOf } from "@loopledger/shared/testing";
import { until } from "../support/until.ts";
import { environmentOn, folderGrounds } from "../support/worlds/grounds.ts";
import { sqlitePlace } from "../support/walks.ts";
import { compare } from "../../services/projector/src/comparison.ts";
import { cleanUp, expectEqual, opened, sessions, started, walk } from "./views.ts";

const main = join(import.meta.dirname, "../../services/projector/src/main.ts");

function projecting(folder: string, failpoints: string): ChildProcess {
  const child = spawn(process.execPath, [main], {
    env: environmentOn(folderGrounds, { LOOPLEDGER_DATA: folder, LOOPLEDGER_FAILPOINTS: failpoints, LOOPLEDGER_LOG_LEVEL: "error" }), stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  cleanUp.push(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await gone;
  });
  return child;
}

test("a projector that is killed again and again, on either side of its write, leaves the views of one that never was", async () => {
  const place = sqlitePlace();
  opened(place);
  const engine = await place.join();
  const random = randomOf(40);
  for (let round = 0; round < 6; round++) {
    const point = random.pick(["projector.before_write", "projector.after_write"]);
    const child = projecting(place.folder, `${point}=kill@${1 + random.below(4)}`);
    const gone = once(child, "exit");
    const walking = (async () => {
      for (let seed = 100 * round; child.exitCode === null && child.signalCode === null; seed++) await walk(engine, { seed, steps: 10 });
    })();
    const [, signal] = await gone;
    await walking;
    expect(signal).toBe("SIGKILL");
  }
  const last = projecting(place.folder, "");
  const left = once(last, "exit");
  await until(async () => {
    const [cursors, ends] = [await engine.views?.cursors("main"), await engine.ledger.end()];
    return [...ends].every(([partition, end]) => end === 1 || (cursors?.get(partition) ?? 0) >= end);
  }, { what: "the last projector to catch up" });
  last.kill("SIGTERM");
  expect((await left)[0]).toBe(0);
  await expectEqual(engine);
  expect(await compare(engine, "main")).toEqual({ equal: true, sessions: sessions.length, differing: [] });
  await (await started(engine)).caughtUp();
  await expectEqual(engine);
}, 120_000);
