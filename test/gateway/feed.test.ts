/** The window of recent records, and one client's stream over a socket that takes what it likes. */
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { LogTime, Offset, SessionId } from "@loopledger/shared/core/brand";
import { emptySession } from "@loopledger/shared/core/session/state";
import { createVirtualClock } from "@loopledger/shared/memory";
import { type Change, type Engine, Supervision } from "@loopledger/shared/runtime";
import { recordOf } from "@loopledger/shared/testing";
import { Feed } from "../../services/gateway/src/feed.ts";
import { type Reading, Stream } from "../../services/gateway/src/stream.ts";

/** A feed over a fold that is told by hand: changes in any order, and up to where everything is folded. */
function feeding({ rowsMax = 100, stallMs = 1_000 } = {}) {
  const clock = createVirtualClock();
  const faults: string[] = [];
  const supervision = new Supervision({ clock, report: (_error, what) => faults.push(what) });
  const told = { change: (_change: Change): void => undefined, positions: (): void => undefined };
  let folded = new Map<number, Offset>([[0, 0 as Offset]]);
  const folds = {
    handed: () => folded, folded: () => folded,
    listen: (listener: typeof told.change) => {
      told.change = listener;
      return () => undefined;
    },
    onFolded: (listener: typeof told.positions) => {
      told.positions = listener;
      return () => undefined;
    },
  };
  const feed = new Feed({ folds, supervision } as unknown as Engine, { rowsMax, charactersMax: 1_000_000 });
  const take = (offset: number): void => {
    const record = recordOf("guidance", { text: `look at ${offset}` });
    const entry = { partition: 0, offset: offset as Offset, key: record.sessionId, value: JSON.stringify(record), time: 0 as LogTime };
    told.change({ sessionId: record.sessionId as SessionId, state: emptySession(record.sessionId as SessionId), record, entry, verdict: { kind: "accepted", seq: offset + 1 } } as unknown as Change);
  };
  const foldedUpTo = (offset: number): void => {
    folded = new Map([[0, offset as Offset]]);
    told.positions();
  };
  const come = (from: number, to: number): void => {
    for (let offset = from; offset < to; offset++) take(offset);
    foldedUpTo(to);
  };
  const offsets = (): number[] => Array.from({ length: feed.end - feed.first }, (_, index) => feed.at(feed.first + index)?.offset ?? -1);
  return { clock, supervision, faults, feed, take, foldedUpTo, come, offsets, stallMs };
}

describe("the feed", () => {
  test("gives out nothing before everything in front of it is folded, and then all of it in order", () => {
    const { take, foldedUpTo, offsets } = feeding();
    for (const offset of [2, 0, 3]) take(offset);
    expect(offsets()).toEqual([]);
    foldedUpTo(1);
    expect(offsets()).toEqual([0]);
    take(1);
    foldedUpTo(4);
    expect(offsets()).toEqual([0, 1, 2, 3]);
    take(1);
    foldedUpTo(4);
    expect(offsets()).toEqual([0, 1, 2, 3]);
  });
  test("keeps no more than its window, and tells from where on", () => {
    const { feed, come, offsets } = feeding({ rowsMax: 10 });
    come(0, 1_234);
    expect(offsets()).toEqual(Array.from({ length: 10 }, (_, index) => 1_224 + index));
    expect([feed.first, feed.from.get(0), feed.at(feed.first - 1)]).toEqual([1_224, 1_224, undefined]);
  });
  test("tells every client that rows have come, whatever another one throws then", async () => {
    const { clock, feed, come, supervision } = feeding();
    const heard: number[] = [];
    let isBroken = true;
    feed.onArrival(() => {
      if (isBroken) throw new Error("this client is broken");
    });
    feed.onArrival(() => heard.push(feed.end));
    come(0, 2);
    come(2, 3);
    expect(heard).toEqual([2, 3]);
    expect(supervision.faulty()).toEqual(["gateway.arrivals"]);
    isBroken = false;
    await clock.advance(60_000);
    expect(supervision.faulty()).toEqual([]);
  });
});

/** A socket that takes what it is given or says that it is full, until it is drained. */
class Socket extends EventEmitter {
  readonly written: string[] = [];
  isFull = false;
  isDestroyed = false;
  writeHead(): void {
    this.written.length = 0;
  }
  write(text: string): boolean {
    this.written.push(text);
    return !this.isFull;
  }
  end(text: string): void {
    this.written.push(text);
    this.emit("close");
  }
  destroy(): void {
    this.isDestroyed = true;
    this.emit("close");
  }
  drain(): void {
    this.isFull = false;
    this.emit("drain");
  }
  get ids(): number[] {
    return [...this.written.join("").matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }
}
/** All rows of the feed, each once. */
function reading(throwsAt: (offset: number) => boolean = () => false): Reading {
  let next = 0;
  return {
    async *history() {
      yield* [];
    },
    next: ({ offset }) => {
      if (throwsAt(offset)) throw new Error("struck");
      if (offset < next) return null;
      next = offset + 1;
      return String(offset);
    },
    joins: () => true,
  };
}
function streamed(read: Reading, options?: Parameters<typeof feeding>[0]) {
  const fed = feeding(options);
  const socket = new Socket();
  let dropped = 0;
  const stream = new Stream(socket as unknown as ServerResponse, {
    feed: fed.feed, part: fed.supervision.part("gateway.streams"), key: "one", tellCause: async () => undefined, stallMs: fed.stallMs, dropped: () => dropped++,
  });
  const over = stream.run(read).then(() => null, (error: unknown) => error);
  return { ...fed, socket, stream, over, dropped: () => dropped };
}
const upTo = (end: number): number[] => Array.from({ length: end }, (_, offset) => offset);

describe("one client's stream", () => {
  test("writes nothing while its socket is full, and goes on with exactly what has not been sent", async () => {
    const { clock, come, socket, stream } = streamed(reading());
    await clock.advance(10);
    come(0, 3);
    await clock.advance(10);
    expect(socket.ids).toEqual(upTo(3));
    socket.isFull = true;
    come(3, 4);
    await clock.advance(10);
    const before = socket.written.length;
    come(4, 20);
    stream.keepAlive();
    await clock.advance(500);
    expect(socket.written.length).toBe(before);
    socket.drain();
    await clock.advance(10);
    expect(socket.ids).toEqual(upTo(20));
    stream.close();
  });
  test("is dropped where the client takes nothing for a while, and not where it does in time", async () => {
    const { clock, come, socket, stream, over, dropped, stallMs } = streamed(reading());
    await clock.advance(10);
    for (const [from, to] of [[0, 1], [1, 2]] as const) {
      socket.isFull = true;
      come(from, to);
      await clock.advance(stallMs - 50);
      expect(socket.isDestroyed).toBe(false);
      socket.drain();
      await clock.advance(100);
    }
    expect(socket.isDestroyed).toBe(false);
    socket.isFull = true;
    come(2, 3);
    await clock.advance(stallMs + 50);
    expect([socket.isDestroyed, stream.isOver, dropped(), await over]).toEqual([true, true, 1, null]);
  });
  test("is dropped when the window leaves it behind", async () => {
    const { clock, come, socket, dropped } = streamed(reading(), { rowsMax: 5, stallMs: 1_000_000 });
    await clock.advance(10);
    socket.isFull = true;
    come(0, 1);
    await clock.advance(10);
    come(1, 6);
    expect(dropped()).toBe(0);
    come(6, 20);
    expect([socket.isDestroyed, dropped()]).toEqual([true, 1]);
  });
  test("whose reading throws is read again after a pause from the first event that was not sent", async () => {
    let left = 3;
    const { clock, come, socket, stream, supervision } = streamed(reading((offset) => offset === 2 && left-- > 0));
    await clock.advance(10);
    come(0, 5);
    await clock.advance(50);
    expect(socket.ids).toEqual([0, 1]);
    expect(supervision.faulty()).toEqual(["gateway.streams"]);
    await clock.advance(10_000);
    expect(socket.ids).toEqual(upTo(5));
    expect([stream.isOver, supervision.faulty()]).toEqual([false, []]);
    stream.close();
  });
  test("whose reading fails again and again is given up after several failures in a row", async () => {
    let tries = 0;
    const { clock, come, over, supervision } = streamed(reading(() => {
      tries++;
      return true;
    }));
    await clock.advance(10);
    come(0, 1);
    await clock.advance(120_000);
    expect(await over).toMatchObject({ message: "struck" });
    expect(tries).toBeGreaterThan(3);
    expect(supervision.faulty()).toEqual([]);
  });
});
