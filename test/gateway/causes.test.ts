import { expect, test } from "vitest";
import type { SessionId } from "@loopledger/shared/core/brand";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import { type Engine, Tenure, appendAct, submitGoal } from "@loopledger/shared/runtime";
import { goalOf } from "@loopledger/shared/testing";
import { carryToEnd, memoryPlace, person } from "../support/walks.ts";
import { until } from "../support/until.ts";
import { asking, listening, opened, streaming } from "./serving.ts";

const id = "caused" as SessionId;
interface Row { readonly seq: number; readonly eventId: string; readonly type: string; readonly cause?: { readonly eventId: string; readonly seq?: number } }

/** Nobody wrote a cause's seq; each row has the one of the row that its cause names. */
function expectCauses(rows: readonly Row[]): void {
  const seqs = new Map(rows.map((row) => [row.eventId, row.seq]));
  expect(rows.filter((row) => row.cause).length).toBeGreaterThan(0);
  for (const { type, cause } of rows) if (cause) expect([type, cause.seq]).toEqual([type, seqs.get(cause.eventId)]);
}
/** A long cycle: what its owner writes last names a dispatch that was written long before. */
async function longCycle(engine: Engine): Promise<void> {
  await submitGoal(engine, goalOf({ policy: { failureFirst: false } }), { actor: person, id });
  const tenure = await Tenure.claim(engine, id, { role: "worker", serves: ["build", "review"] });
  const step = (name: string) => ({ type: "step", data: { name, inputDigest: `sha256:${"0".repeat(64)}`, result: null }, actor: { kind: "maker", id: "agent@sha256:1" } }) as never;
  for (let n = 0; n < 80; n++) await tenure?.append([step(`step-${n}`)]);
}

test("events tell the seq of their cause, page by page", async () => {
  const { engine, get } = await asking({ place: opened(memoryPlace()) });
  await longCycle(engine);
  await carryToEnd(engine, id);
  const rows: Row[] = [];
  for (let next: string | null = "0"; next !== null; ) {
    const page = (await get(`/v1/sessions/${id}/events?after=${next}&limit=7`)).json as { items: Row[]; next: string | null };
    rows.push(...page.items);
    next = page.next;
  }
  expect(rows.map((row) => row.seq)).toEqual(Array.from({ length: (await engine.folds.open(id)).seq }, (_, index) => index + 1));
  expectCauses(rows);
  for (const entry of await engine.ledger.readSession(id)) {
    const parsed = parseRecord(entry.value);
    expect(parsed.kind === "record" && parsed.record.cause?.seq).not.toBeTypeOf("number");
  }
});

test.each([["from before the records on", true], ["when the gateway begins in the midst of a long cycle", false]])("live events tell it too, %s", async (_when, fromBefore) => {
  const place = opened(memoryPlace());
  const writer = await place.join();
  if (!fromBefore) await longCycle(writer);
  const gateway = await listening(await place.join());
  const client = await streaming(`${gateway.url}/v1/stream`);
  if (fromBefore) await longCycle(writer);
  await appendAct(writer, id, { type: "guidance", data: { text: "go on" }, actor: person });
  await carryToEnd(writer, id);
  const { seq } = await writer.folds.open(id);
  const whole = await streaming(`${gateway.url}/v1/sessions/${id}/stream`);
  await whole.has(seq);
  const rows = whole.events.map((one) => one.data as unknown as Row);
  expectCauses(rows);
  await until(() => client.events.at(-1)?.data.seq === seq, { what: "the last event" });
  const live = client.events.map((one) => one.data as unknown as Row);
  expect(live.some((row) => row.cause)).toBe(true);
  expect(live).toEqual(rows.filter((row) => row.seq >= (live[0]?.seq ?? 0)));
});
