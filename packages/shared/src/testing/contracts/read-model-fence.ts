/**
 * The fence where views are written. The tables are those of the fold and of the look before an append: what a case does to a
 * session there is what its view shows here, and who is behind, ahead or late changes nothing.
 */
import type { Offset, OwnerId, SessionId } from "../../core/brand.ts";
import { canonicalJson } from "../../core/json.ts";
import type { StatusView } from "../../core/session/status.ts";
import type { ReadModel, ViewWrite } from "../../ports/index.ts";
import { claim, own, owed, submit } from "../acts.ts";
import { claimCases, fenceCases } from "../fence-cases.ts";
import { begin } from "../journeys.ts";
import { testSession } from "../records.ts";
import type { Story } from "../story.ts";
import type { ReadModelWorld } from "./read-model-world.ts";
import { inWorld, type Vitest } from "./suite.ts";

const most = Number.MAX_SAFE_INTEGER;
/** The cursor stands at `at` after steps that ended at each of these; a step from `from` is due, or it is not. */
const cursorCases: readonly { readonly name: string; readonly at: readonly number[]; readonly from: number; readonly due: boolean }[] = [
  { name: "the first step", at: [], from: 0, due: true },
  { name: "a later step where none was taken", at: [], from: 1, due: false },
  { name: "the next step", at: [3, 5], from: 5, due: true },
  { name: "the last step once more", at: [3, 5], from: 3, due: false },
  { name: "the first step once more", at: [3, 5], from: 0, due: false },
  { name: "a step from within one that was taken", at: [3, 5], from: 4, due: false },
  { name: "a step that leaves one out", at: [3, 5], from: 6, due: false },
  { name: "a far jump", at: [3, 5], from: 1_000_000, due: false },
  { name: "the next step of a long log", at: [most - 2, most - 1], from: most - 1, due: true },
  { name: "one beside it in a long log", at: [most - 2, most - 1], from: most - 2, due: false },
];

const write = (store: ReadModel, [from, to]: readonly [number, number], views: readonly ViewWrite[]): Promise<boolean> =>
  store.write("main", { partition: 0, from: from as Offset, to: to as Offset, views });
const viewOf = (status: StatusView, sessionId: SessionId = testSession): ViewWrite => ({
  sessionId, disposition: status.disposition, at: 1, labels: {}, document: canonicalJson(status), snapshot: canonicalJson({ asOf: status.asOf }),
});

/** The session that the tables speak of. */
const story = (): Story => begin([submit({}, { failureFirst: false }), owed(), claim("V"), own("error"), claim("W"), own("error"), own("error"), own("error")]);

export function readModelFence({ it, expect }: Vitest, make: () => Promise<ReadModelWorld>): void {
  it.each(cursorCases)("compares the cursor: $name", ({ at, from, due }) => inWorld(make, async (world) => {
    const store = await world.open("l1");
    const { status } = story();
    for (const [i, to] of at.entries()) expect(await write(store, [at[i - 1] ?? 0, to], [])).toBe(true);
    expect(await write(store, [from, from + 1], [viewOf(status)])).toBe(due);
    expect(await store.get("main", testSession)).toBe(due ? canonicalJson(status) : null);
    const stands = due ? from + 1 : at.at(-1);
    expect(await store.cursors("main")).toEqual(new Map(stands === undefined ? [] : [[0, stands]]));
  })());

  const acts = [
    ...fenceCases.map((one) => ({ ...one, act: own("error", {}, { epoch: one.epoch, ownerId: one.ownerId, n: one.n }) })),
    ...claimCases.map((one) => ({ ...one, name: `a claim, ${one.name}`, act: claim(one.ownerId as OwnerId, { epoch: one.epoch }) })),
  ];
  it.each(acts)("shows what the fence says of a record, once: $name: $expected", ({ act, expected }) => inWorld(make, async (world) => {
    const [store, late] = [await world.open("l1"), await world.open("l1")];
    const told = story();
    const at = told.entries.length;
    const before = told.status;
    expect(await write(store, [0, at], [viewOf(before)])).toBe(true);
    const after = told.when(act).status;
    expect(await write(store, [at, at + 1], [viewOf(after)])).toBe(true);
    const shown = JSON.parse((await late.get("main", testSession)) ?? "null") as StatusView;
    expect([shown.asOf, shown.void]).toEqual(expected === null ? [before.asOf + 1, {}] : [before.asOf, { [expected]: 1 }]);
    for (const [from, to] of [[0, at], [at - 1, at], [at, at + 1], [at + 2, at + 3]] as const) {
      expect(await write(late, [from, to], [viewOf(before), viewOf(before, "other" as SessionId)])).toBe(false);
    }
    expect(await late.get("main", testSession)).toBe(canonicalJson(after));
    expect(await late.get("main", "other" as SessionId)).toBeNull();
  })());
}
