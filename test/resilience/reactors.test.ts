import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { type StreamClient, type StreamEvent, streaming } from "../gateway/serving.ts";
import type { Kind } from "./fixtures/strikes.ts";
import { type Reactor, atStart, reactors } from "./reactors.ts";
import { StruckProcess, patienceMs } from "./struck.ts";

let stage: StruckProcess;
beforeAll(async () => {
  stage = new StruckProcess();
  await stage.begin();
}, patienceMs);
afterAll(() => stage.close());

const seqsOf = (events: readonly StreamEvent[], id: string): number[] => events.filter((one) => one.data.sessionId === id).map((one) => one.data.seq);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Each event of the session came once and in order, to who has listened all the time and to who reads from the beginning. */
async function expectEveryEventOnce(id: string, seq: number, live: StreamClient): Promise<void> {
  await until(() => seqsOf(live.events, id).length >= seq, { what: `the ${seq} events of ${id}`, timeoutMs: patienceMs });
  expect(seqsOf(live.events, id)).toEqual(upTo(seq));
  const late = await streaming(`${stage.url}/v1/sessions/${id}/stream`);
  await late.has(seq);
  expect(seqsOf(late.events, id)).toEqual(upTo(seq));
  late.close();
}

async function strikeAndMend({ name, provoke, maker, unheard }: Reactor, kind: Kind): Promise<void> {
  const id = `${name.replaceAll(".", "-")}-${kind}`;
  await stage.submit(`${id}-before`);
  await stage.untilDone(`${id}-before`);
  const live = await streaming(`${stage.url}/v1/stream`);
  await stage.strike(name, kind);
  await stage.submit(id, maker);
  await provoke?.(stage, id);
  // Reads the ledger while it is struck.
  const fromStart = await streaming(`${stage.url}/v1/stream?after=start`);
  if (unheard && kind === "reject") await until(async () => (await stage.hits()) > 0, { what: `a stray rejection in ${name}`, timeoutMs: patienceMs });
  else await stage.untilFaulty(name);
  expect(stage.lives).toBe(true);
  await stage.mend();
  stage.letGoOn(id);
  await stage.untilReady();
  const seq = await stage.untilDone(id);
  await expectEveryEventOnce(id, seq, live);
  await until(() => seqsOf(fromStart.events, id).length >= seq, { what: `the events of ${id} from the beginning`, timeoutMs: patienceMs });
  expect(seqsOf(fromStart.events, id)).toEqual(upTo(seq));
  await until(async () => (await stage.compare()).equal, { what: "the views to equal a fresh fold", timeoutMs: patienceMs });
  expect(stage.lives).toBe(true);
  for (const client of [live, fromStart]) client.close();
}

describe.each(["throw", "reject"] as const)("a %s in each reactor: the process lives, readiness tells the name, it recovers, nothing is lost", (kind) => {
  test.each(reactors.map((reactor) => [reactor.name, reactor] as const))("%s", { timeout: 3 * patienceMs }, (_name, reactor) => strikeAndMend(reactor, kind));
});

test("every reactor that the process registered is in the table, and the table names no other", async () => {
  expect(await stage.names()).toEqual([...reactors.map((one) => one.name), ...atStart].sort());
});

test("the figures count each record once, however often it had to be told", async () => {
  const { text } = await stage.get("/v1/sessions?limit=500");
  const sessions = (JSON.parse(text) as { readonly items: readonly { readonly asOf: number; readonly void: Readonly<Record<string, number>> }[] }).items;
  const accepted = sessions.reduce((sum, one) => sum + one.asOf, 0);
  const metrics = (await stage.get("/metrics")).text;
  expect(metrics).toContain(`loopledger_records_total{verdict="accepted"} ${accepted}\n`);
});
