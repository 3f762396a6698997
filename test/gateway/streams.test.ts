import { describe, expect, test } from "vitest";
import type { SessionId } from "@loopledger/shared/core/brand";
import { type Engine, appendAct } from "@loopledger/shared/runtime";
import { randomOf } from "@loopledger/shared/testing";
import { until } from "../support/until.ts";
import { Walker, carryToEnd, memoryPlace, person, sqlitePlace } from "../support/walks.ts";
import { judgeSession } from "../../services/gateway/src/history.ts";
import { type StreamClient, type StreamEvent, listening, opened, streaming } from "./serving.ts";

const sessions = ["a", "b", "c", "d"].map((name) => `stream-${name}` as SessionId);
const [first, second] = sessions as [SessionId, SessionId];

async function guide(engine: Engine, sessionId: SessionId, hints: number | { readonly count: number; readonly text: string }): Promise<void> {
  const { count, text } = typeof hints === "number" ? { count: hints, text: "look at the parser" } : hints;
  for (let i = 0; i < count; i++) await appendAct(engine, sessionId, { type: "guidance", data: { text: `${text} ${i}` }, actor: person });
}
async function begun(engine: Engine, ...ids: SessionId[]): Promise<void> {
  for (const id of ids) await new Walker(engine, randomOf(1)).step(id);
}
const seqs = (events: readonly StreamEvent[], sessionId: string): number[] => events.filter((one) => one.data.sessionId === sessionId).map((one) => one.data.seq);
const upTo = (last: number, from = 1): number[] => Array.from({ length: last - from + 1 }, (_, i) => from + i);

/** Every accepted record of the sessions, as another fold tells it. */
async function acceptedOf(engine: Engine, ids: readonly SessionId[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const id of ids) {
    const types: string[] = [];
    for await (const { verdict, parsed } of judgeSession(engine, id)) if (verdict.kind === "accepted" && parsed.kind === "record") types.push(parsed.record.type);
    found.set(id, types);
  }
  return found;
}

const places = [["memory", () => memoryPlace()], ["SQLite", () => sqlitePlace()]] as const;

describe.each(places)("streams on %s", (_name, makePlace) => {
  test("a session's stream is all of its events and then what comes, each with its seq as id", async () => {
    const engine = await opened(makePlace()).join();
    const gateway = await listening(engine);
    await begun(engine, first, second);
    const client = await streaming(`${gateway.url}/v1/sessions/${first}/stream`);
    expect(client.headers["content-type"]).toContain("text/event-stream");
    await guide(engine, first, 5);
    await guide(engine, second, 5);
    await carryToEnd(engine, first);
    const { seq } = await engine.folds.open(first);
    const events = await client.has(seq);
    expect(events.map((one) => one.id)).toEqual(upTo(seq).map(String));
    expect(events.map((one) => one.data.type)).toEqual((await acceptedOf(engine, [first])).get(first));
    expect(new Set(events.map((one) => one.data.sessionId))).toEqual(new Set([first]));
  });

  test("cut after event k, twenty more, back with Last-Event-ID k: exactly k+1 onwards", async () => {
    const engine = await opened(makePlace()).join();
    const gateway = await listening(engine);
    await begun(engine, first, second);
    const before = await streaming(`${gateway.url}/v1/sessions/${first}/stream`);
    await guide(engine, first, 3);
    await before.has(5);
    before.close();
    await guide(engine, first, 20);
    await guide(engine, second, 20);
    const after = await streaming(`${gateway.url}/v1/sessions/${first}/stream`, { lastEventId: "5" });
    await guide(engine, first, 2);
    expect((await after.has(22)).map((one) => one.id)).toEqual(upTo(27, 6).map(String));
  });

  test("the stream of all sessions goes on from any id without gap or repeat, over reconnects and beyond the window", async () => {
    const place = opened(makePlace());
    const engine = await place.join();
    const writer = await place.join();
    const gateway = await listening(engine, { window: { rowsMax: 8, charactersMax: 1_000_000 } });
    const random = randomOf(3);
    const walker = new Walker(writer, random);
    const seen: StreamEvent[] = [];
    let client: StreamClient = await streaming(`${gateway.url}/v1/stream`);
    for (let round = 0; round < 12; round++) {
      for (let step = 0; step < 25; step++) await walker.step(random.pick(sessions));
      if (random.chance(0.3)) continue;
      await until(() => client.events.length > 0, { what: "some events before the cut" });
      client.close();
      seen.push(...client.events);
      client = await streaming(`${gateway.url}/v1/stream`, { lastEventId: client.lastId as string });
      expect(client.status).toBe(200);
    }
    await guide(writer, first, 1);
    const accepted = await acceptedOf(writer, sessions);
    const total = [...accepted.values()].reduce((sum, types) => sum + types.length, 0);
    await client.has(total - seen.length);
    seen.push(...client.events);
    for (const [id, types] of accepted) {
      expect(seqs(seen, id)).toEqual(upTo(types.length));
      expect(seen.filter((one) => one.data.sessionId === id).map((one) => one.data.type)).toEqual(types);
    }
  });

  test("from the ledger's beginning: everything, refused records left out", async () => {
    const engine = await opened(makePlace()).join();
    const walker = new Walker(engine, randomOf(4));
    for (let step = 0; step < 120; step++) await walker.step(sessions[step % 4] as SessionId);
    const gateway = await listening(engine);
    const client = await streaming(`${gateway.url}/v1/stream?after=start`);
    const accepted = await acceptedOf(engine, sessions);
    await client.has([...accepted.values()].reduce((sum, types) => sum + types.length, 0));
    for (const [id, types] of accepted) expect(seqs(client.events, id)).toEqual(upTo(types.length));
    const again = await streaming(`${gateway.url}/v1/stream`, { lastEventId: client.events[9]?.id as string });
    expect((await again.has(client.events.length - 10)).map((one) => one.id)).toEqual(client.events.slice(10).map((one) => one.id));
  });
});

describe("streams", () => {
  test.each([
    ["nonsense", "now", 400, "invalid_cursor"], ["a negative one", "-1", 400, "invalid_cursor"], ["a fraction", "1.5", 400, "invalid_cursor"],
    ["one ahead of the session", "4711", 409, "cursor_ahead"], ["a huge one", "999999999999999", 409, "cursor_ahead"],
    ["one longer than any seq", "9".repeat(40), 400, "invalid_cursor"], ["one of the other stream", "v1~x~0.0.0.0", 400, "invalid_cursor"],
  ])("a session's cursor that is %s is refused before the stream begins", async (...[, cursor, status, code]) => {
    const engine = await opened(memoryPlace()).join();
    await begun(engine, first);
    const gateway = await listening(engine);
    for (const client of [await streaming(`${gateway.url}/v1/sessions/${first}/stream`, { lastEventId: cursor }), await streaming(`${gateway.url}/v1/sessions/${first}/stream?after=${cursor}`)]) {
      expect(client.status).toBe(status);
      expect(client.problem).toMatchObject({ code });
      expect(client.problem?.next).not.toBe("");
    }
  });

  test.each([
    ["nonsense", () => "42", 400, "invalid_cursor"], ["of another ledger", () => "v1~another~0.0.0.0", 410, "cursor_gone"],
    ["of another number of partitions", (id: string) => `v1~${id}~0.0`, 410, "cursor_gone"], ["ahead of the ledger", (id: string) => `v1~${id}~0.0.zzz.0`, 409, "cursor_ahead"],
    ["beyond every number", (id: string) => `v1~${id}~0.0.zzzzzzzzzzz.0`, 400, "invalid_cursor"],
  ])("a cursor of the stream of all sessions that is %s is refused before it begins", async (...[, cursorOf, status, code]) => {
    const engine = await opened(memoryPlace()).join();
    await begun(engine, first);
    const gateway = await listening(engine);
    const client = await streaming(`${gateway.url}/v1/stream`, { lastEventId: cursorOf(engine.ledger.ledgerId) });
    expect([client.status, client.problem?.code]).toEqual([status, code]);
  });

  test("a session that is not there has no stream", async () => {
    const gateway = await listening(await opened(memoryPlace()).join());
    const client = await streaming(`${gateway.url}/v1/sessions/nobody/stream`);
    expect([client.status, client.problem?.code]).toEqual([404, "unknown_session"]);
  });

  test("keep-alives are comments and move no cursor", async () => {
    const engine = await opened(memoryPlace()).join();
    await begun(engine, first);
    const gateway = await listening(engine, { keepAliveMs: 5 });
    const client = await streaming(`${gateway.url}/v1/sessions/${first}/stream`);
    await client.has(2);
    await until(() => client.comments.length >= 3, { what: "three keep-alives" });
    expect(client.events.length).toBe(2);
    expect(client.comments.every((comment) => comment === ": keep-alive")).toBe(true);
    client.close();
    const again = await streaming(`${gateway.url}/v1/sessions/${first}/stream`, { lastEventId: client.lastId as string });
    await guide(engine, first, 1);
    expect((await again.has(1)).map((one) => one.id)).toEqual(["3"]);
  });

  test("a client that does not read is dropped, and goes on from its last id with nothing lost", async () => {
    const engine = await opened(memoryPlace()).join();
    await begun(engine, first);
    const gateway = await listening(engine, { window: { rowsMax: 10, charactersMax: 400_000 } });
    const slow = await streaming(`${gateway.url}/v1/stream?after=start`);
    await slow.has(2);
    slow.pause();
    const large = "x".repeat(60_000);
    const metrics = async (): Promise<string> => (await fetch(`${gateway.url}/metrics`)).text();
    await until(async () => {
      await guide(engine, first, { count: 20, text: large });
      return (await metrics()).includes("loopledger_streams_dropped_total 1");
    }, { what: "the slow client to be dropped" });
    expect(await metrics()).toContain("loopledger_streams_open 0");
    slow.resume();
    await until(() => slow.isOver, { what: "the socket to end" });
    const { seq } = await engine.folds.open(first);
    expect(slow.events.length).toBeLessThan(seq);
    expect(seqs(slow.events, first)).toEqual(upTo(slow.events.length));
    const again = await streaming(`${gateway.url}/v1/stream`, { lastEventId: slow.lastId as string });
    await again.has(seq - slow.events.length);
    expect(seqs(again.events, first)).toEqual(upTo(seq, slow.events.length + 1));
  });

  test("a storm of reconnects: the server lives and every client has every event once", async () => {
    const engine = await opened(memoryPlace()).join();
    await begun(engine, ...sessions);
    await guide(engine, first, 10);
    const gateway = await listening(engine);
    const opening = Array.from({ length: 200 }, (_, i) => streaming(`${gateway.url}/v1/sessions/${first}/stream`, { lastEventId: String(i % 12) }));
    await guide(engine, first, 10);
    const clients = await Promise.all(opening);
    const { seq } = await engine.folds.open(first);
    for (const [i, client] of clients.entries()) {
      await client.has(seq - (i % 12));
      expect(seqs(client.events, first)).toEqual(upTo(seq, (i % 12) + 1));
    }
  });

  test("more streams than there may be are told to come back", async () => {
    const engine = await opened(memoryPlace()).join();
    const gateway = await listening(engine, { streamsMax: 1 });
    expect((await streaming(`${gateway.url}/v1/stream`)).status).toBe(200);
    const refused = await streaming(`${gateway.url}/v1/stream`);
    expect([refused.status, refused.problem?.code, refused.headers["retry-after"]]).toEqual([503, "too_many_streams", "5"]);
  });

  test("an orderly stop ends the streams and the port, with nothing cut off", async () => {
    const engine = await opened(memoryPlace()).join();
    await begun(engine, first);
    const gateway = await listening(engine);
    const client = await streaming(`${gateway.url}/v1/sessions/${first}/stream`);
    await client.has(2);
    await gateway.stop();
    await until(() => client.isOver, { what: "the stream to end" });
    expect(client.comments.at(-1)).toContain("stopping");
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
  });
});
