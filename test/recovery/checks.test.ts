/** What a check is to the ledger: another principal than the maker, without tools, and what was pinned of it when the session began. */
import type { Digest, SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { acceptedOf } from "../support/worlds/oracle.ts";
import { Scene } from "../support/worlds/scene.ts";
import { type World, stateOf, submit, untilOver } from "../support/worlds/world.ts";

let scene: Scene;
let world: World;
const id = "s" as SessionId;
beforeEach(() => {
  scene = new Scene(memoryWorld());
  ({ world } = scene);
});
afterEach(() => scene.close());

test("a check that asks for a tool is refused, nothing is called, and its verdict stands under a principal that is not the maker's", async () => {
  const answers: unknown[] = [];
  const peer = await scene.works({}, { changed: (handlers) => ({ ...handlers, check: (name) => {
    const check = handlers.check(name);
    return check && { ...check, run: async (task, how) => {
      answers.push(await task.steps.tool("idempotent", { from: "the check" }));
      return check.run(task, how);
    } };
  } }) });
  await submit(peer, id, { policy: { failureFirst: false } });
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ state: "confirmed" }] });
  expect(answers).toMatchObject([{ ok: false }]);
  expect(scene.target.count(id, "call")).toBe(1);
  const accepted = acceptedOf(await scene.folded(id));
  const actorOf = (type: string) => accepted.find((record) => record.type === type)?.actor;
  expect(actorOf("check")).toMatchObject({ kind: "checker" });
  expect(actorOf("built")).toMatchObject({ kind: "maker" });
  expect(actorOf("check")?.id).not.toBe(actorOf("built")?.id);
  expect(await scene.broken(id)).toEqual([]);
});

test.each(["between two checks", "while it runs"] as const)("a check that becomes another one than was pinned %s gives no verdict: the session waits for a person, who is told what has changed", async (when) => {
  const [first, bent] = ["1", "2"].map((digit) => `sha256:${digit.repeat(64)}`) as [Digest, Digest];
  let digest = first;
  let runs = 0;
  const started = (what: "maker" | "check", iteration: number): void => {
    if (iteration === 2 && what === (when === "while it runs" ? "check" : "maker")) digest = bent;
    if (what === "check") runs++;
  };
  const peer = await scene.works({ iterations: 2, started }, { changed: (handlers) => ({ ...handlers, check: (name) => {
    const check = handlers.check(name);
    return check && { ...check, pin: async () => ({ digest, pinned: ["check.mjs"] }) };
  } }) });
  await submit(peer, id, { policy: { failureFirst: false } });
  await world.until(async () => (await stateOf(world, id)).suspension !== null, "the wait for a person");
  expect(statusOf(await stateOf(world, id))).toMatchObject({ disposition: "waiting", reason: "check_changed", receipt: null });
  const verdicts = acceptedOf(await scene.folded(id)).flatMap(({ type, data }) => (type === "check" ? [(data as { readonly verdict: string }).verdict] : []));
  expect(verdicts).toEqual(["FAIL"]);
  expect(runs).toBe(when === "while it runs" ? 2 : 1);
  expect((await stateOf(world, id)).suspension?.detail).toMatchObject({ expected: first, found: bent, pinned: ["check.mjs"] });
  expect(await scene.broken(id)).toEqual([]);
});
