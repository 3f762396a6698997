/** A Redis of a file's own, a prefix for each of its tests, and handles on it that are closed after the test. */
import { randomUUID } from "node:crypto";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { Ownership, ReadModel, ViewWrite } from "@loopledger/shared/ports";
import { type RedisOptions, openRedisOwnership, openRedisReadModel } from "@loopledger/shared/redis";
import { createSystemClock } from "@loopledger/shared/system";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type OwnRedis, ownRedis } from "../support/parts/parts.ts";
import type { Reply } from "./resp.ts";
import { sendTo, silent } from "./redis-outside.ts";

export const s1 = "s1" as SessionId;

export class RedisStage {
  readonly clock = createSystemClock();
  prefix = "";
  #redis: OwnRedis | null = null;
  readonly #opened: { close(): Promise<void> }[] = [];

  /** Called once in a file, which then has it in each of its tests. */
  constructor() {
    beforeAll(async () => {
      this.#redis = await ownRedis();
    });
    beforeEach(() => {
      this.prefix = `own-${randomUUID()}`;
    });
    afterEach(async () => {
      for (const one of this.#opened.splice(0)) await one.close();
    });
    afterAll(() => this.#redis?.stop());
  }
  get redis(): OwnRedis {
    if (this.#redis === null) throw new Error("There is a Redis in tests only.");
    return this.#redis;
  }

  /** One command, as somebody else sends it. */
  readonly send = (...words: readonly (string | number)[]): Promise<Reply> => sendTo(this.redis.url, ...words);
  /** Closed after the test. */
  async keep<T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> {
    const one = await opening;
    this.#opened.push(one);
    return one;
  }
  readonly leases = (options: Partial<RedisOptions> = {}): Promise<Ownership> =>
    this.keep(openRedisOwnership({ url: this.redis.url, prefix: this.prefix, clock: this.clock, log: silent, ...options }));
  readonly views = (options: Partial<RedisOptions> = {}): Promise<ReadModel> =>
    this.keep(openRedisReadModel({ url: this.redis.url, prefix: this.prefix, ledgerId: "l1", clock: this.clock, log: silent, ...options }));
}

export const view = (at: number, more: Partial<ViewWrite> = {}): ViewWrite => (
  { sessionId: s1, disposition: "running", at, labels: {}, document: `{"at":${at}}`, snapshot: `{"s":${at}}`, ...more });
/** One step of a projector, in partition 0. */
export const write = (store: ReadModel, [from, to]: readonly [number, number], ...written: ViewWrite[]): Promise<boolean> =>
  store.write("main", { partition: 0, from: from as Offset, to: to as Offset, views: written });
/** The code of the error, or `answered`. */
export const codeOf = (call: Promise<unknown>): Promise<unknown> => call.then(() => "answered", (error: { code: unknown }) => error.code);
