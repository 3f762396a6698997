/** The intake as a process of its own, on Kafka, struck in each of its reactors. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEngine } from "@loopledger/composition/engine/open-engine";
import type { OpenEngine } from "@loopledger/composition/engine/engine-options";
import { readDeployment } from "@loopledger/composition/settings/deployment";
import type { SessionId } from "@loopledger/shared/core/brand";
import { goal } from "@loopledger/shared/core/events/goal";
import { submitGoal } from "@loopledger/shared/runtime";
import { Stage, goalText } from "../intake/stage.ts";
import { until } from "../support/until.ts";
import { intakeReactors } from "./service-reactors.ts";
import { patienceMs } from "./struck.ts";
import { StruckService } from "./struck-services.ts";

let stage: Stage;
let intake: StruckService;
let outside: OpenEngine;
beforeAll(async () => {
  stage = await Stage.make();
  intake = new StruckService("intake", stage.folder, stage.variables);
  await intake.url();
  outside = await openEngine(readDeployment(stage.variables, join(stage.folder, "outside")), { history: true, logLevel: "silent" });
}, patienceMs);
afterAll(async () => {
  await outside.close();
  await intake.close();
  await stage.close();
});

const isThere = (id: string): Promise<unknown> => until(() => outside.engine.folds.peek(id as SessionId)?.submission, { what: `the session ${id}`, timeoutMs: patienceMs });

describe("a throw in each reactor of the intake as a process of its own: it lives, readiness tells the name, it recovers, nothing is lost", () => {
  const { struck, never } = intakeReactors;
  test.each(struck.map((reactor) => [reactor.name, reactor] as const))("%s", { timeout: 3 * patienceMs }, async (_name, { name, posted }) => {
    const id = name.replaceAll(".", "-");
    await intake.tell({ strike: name });
    if (posted) await stage.put({ key: id, value: goalText() });
    else await submitGoal(outside.engine, goal.parse(JSON.parse(goalText())), { actor: { kind: "human", id: "olga" }, id: id as SessionId });
    await intake.untilFaulty(name);
    expect(intake.lives).toBe(true);
    await intake.tell({ mend: true });
    await intake.untilReady();
    await stage.put({ key: `${id}-after`, value: goalText() });
    for (const one of [id, `${id}-after`]) await isThere(one);
    expect(intake.lives).toBe(true);
  });

  test("every name that it registered was struck, or does not recover by itself, or cannot fail there; nothing was set aside", async () => {
    expect(await intake.tell({ names: true })).toEqual([...struck.map(({ name }) => name), ...Object.keys(never)].sort());
    expect(await stage.letters()).toEqual([]);
  }, patienceMs);
});
