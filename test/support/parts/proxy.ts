/**
 * A TCP proxy whose wire a test may cut, hold and bend. The Kafka one reads the frames that pass: it can lose a request, lose
 * the answer to one that the broker has taken, or answer late, by the name of the request.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

type Direction = "request" | "answer";

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
}

/** Bytes as they come, in both directions. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #targetPort: number;
  #refuses = false;
  #held: (() => void)[] | null = null;

  protected constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((client) => this.#join(client));
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    return new TcpProxy(targetPort).listening();
  }

  protected listening(): Promise<this> {
    return new Promise((done, fail) => {
      this.#server.once("error", fail).listen(0, "127.0.0.1", () => done(this));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** Ends every connection at once, as a broken network does; new ones are taken. */
  cut(): void {
    for (const { client, target } of this.#pairs) {
      client.resetAndDestroy();
      target.resetAndDestroy();
    }
  }

  /** Cuts, and refuses new ones until `accept`. */
  refuse(): void {
    this.#refuses = true;
    this.cut();
  }

  accept(): void {
    this.#refuses = false;
  }

  /** Nothing passes, in either direction and on new connections too, until `release`: a network that drops everything in silence. */
  hold(): void {
    this.#held ??= [];
  }

  /** What was held passes, in its order. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const pass of held) pass();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((done) => this.#server.close(done));
  }

  #join(client: Socket): void {
    if (this.#refuses) return void client.resetAndDestroy();
    const target = connect(this.#targetPort, "127.0.0.1");
    const pair = { client, target };
    this.#pairs.add(pair);
    const handlers = this.handlers(pair);
    client.on("data", (chunk) => this.#pass(() => handlers("request", chunk)));
    target.on("data", (chunk) => this.#pass(() => handlers("answer", chunk)));
    for (const [one, other] of [[client, target], [target, client]] as const) {
      one.setNoDelay(true);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
  }

  #pass(go: () => void): void {
    if (this.#held === null) go();
    else this.#held.push(go);
  }

  /** What is done with the bytes of one connection. */
  protected handlers({ client, target }: Pair): (direction: Direction, chunk: Buffer) => void {
    return (direction, chunk) => void (direction === "request" ? target : client).write(chunk);
  }
}

/** Bytes as they come; what every connection began with is kept. */
export class WatchedProxy extends TcpProxy {
  /** The first byte that each client sent, in the order of the connections: 0x16 where it began with TLS. */
  readonly openings: number[] = [];

  static override async start(targetPort: number): Promise<WatchedProxy> {
    return new WatchedProxy(targetPort).listening();
  }

  protected override handlers(pair: Pair): (direction: Direction, chunk: Buffer) => void {
    const pass = super.handlers(pair);
    let isNew = true;
    return (direction, chunk) => {
      if (direction === "request" && isNew) {
        isNew = false;
        this.openings.push(chunk[0] ?? -1);
      }
      pass(direction, chunk);
    };
  }
}

/** The requests that tests name, by Kafka's numbers. */
const kafkaApis = {
  Produce: 0, Fetch: 1, ListOffsets: 2, Metadata: 3, OffsetCommit: 8, OffsetFetch: 9, FindCoordinator: 10, JoinGroup: 11, Heartbeat: 12,
  LeaveGroup: 13, SyncGroup: 14, ApiVersions: 18, CreateTopics: 19, DescribeConfigs: 32, AlterConfigs: 33,
} as const;
export type KafkaApi = keyof typeof kafkaApis;

export interface SeenRequest {
  readonly api: KafkaApi | number;
  readonly correlationId: number;
}

interface Rule {
  readonly api: KafkaApi;
  readonly act: "drop" | "swallow" | "cut-after" | "hold-answer" | { readonly code: number };
  left: number;
  readonly met: (seen: SeenRequest) => void;
}

/** Kafka's frames: a length of four bytes, then the number of the request, its version and its correlation id. */
export class KafkaProxy extends TcpProxy {
  readonly #rules: Rule[] = [];
  /** Every request that came, in its order. */
  readonly seen: SeenRequest[] = [];
  #late: (() => void)[] = [];

  static override async start(targetPort: number): Promise<KafkaProxy> {
    return new KafkaProxy(targetPort).listening();
  }

  /** The next `times` requests of this kind never reach the broker; nobody is told. */
  drop(api: KafkaApi, times = 1): Promise<SeenRequest> {
    return this.#rule(api, "drop", times);
  }

  /** The broker takes the next `times` requests of this kind (a produce that it refuses does not count), and its answer never comes; the connection stays. */
  swallow(api: KafkaApi, times = 1): Promise<SeenRequest> {
    return this.#rule(api, "swallow", times);
  }

  /** The broker takes the next `times` requests of this kind; instead of its answer the connection breaks. */
  cutAfter(api: KafkaApi, times = 1): Promise<SeenRequest> {
    return this.#rule(api, "cut-after", times);
  }

  /** The answers to the next `times` requests of this kind wait until `releaseAnswers`. */
  holdAnswers(api: KafkaApi, times = 1): Promise<SeenRequest> {
    return this.#rule(api, "hold-answer", times);
  }

  /** The broker takes the next `times` produces, and its answers say that it has not, with this code for their first partition. */
  belie(code: number, times = 1): Promise<SeenRequest> {
    return this.#rule("Produce", { code }, times);
  }

  releaseAnswers(): void {
    const late = this.#late;
    this.#late = [];
    for (const pass of late) pass();
  }

  /** No rule is in force any more. */
  clear(): void {
    this.#rules.length = 0;
    this.releaseAnswers();
  }

  /** Resolves when the rule has met its last request: for a dropped one when it came, for the others when the broker answered. */
  #rule(api: KafkaApi, act: Rule["act"], times: number): Promise<SeenRequest> {
    return new Promise((done) => {
      const rule: Rule = { api, act, left: times, met: (seen) => {
        if (rule.left === 0) done(seen);
      } };
      this.#rules.push(rule);
    });
  }

  #take(api: SeenRequest["api"]): Rule | null {
    const rule = this.#rules.find((one) => one.api === api && one.left > 0);
    if (!rule) return null;
    rule.left -= 1;
    return rule;
  }

  protected override handlers(pair: Pair): (direction: Direction, chunk: Buffer) => void {
    const { client, target } = pair;
    const awaited = new Map<number, { readonly rule: Rule; readonly seen: SeenRequest }>();
    const requests = frames((frame) => {
      const seen = { api: nameOf(frame.readInt16BE(4)), correlationId: frame.readInt32BE(8) };
      this.seen.push(seen);
      const rule = this.#take(seen.api);
      if (rule?.act === "drop") return rule.met(seen);
      if (rule) awaited.set(seen.correlationId, { rule, seen });
      target.write(frame);
    });
    const answers = frames((frame) => {
      const expected = awaited.get(frame.readInt32BE(4));
      if (!expected) return void client.write(frame);
      awaited.delete(expected.seen.correlationId);
      // What the broker did not take, of a topic that has no leader yet say, passes, and the rule waits for the next.
      if (expected.seen.api === "Produce" && !isTaken(frame)) {
        expected.rule.left += 1;
        return void client.write(frame);
      }
      if (expected.rule.act === "cut-after") {
        client.resetAndDestroy();
        target.destroy();
      }
      if (typeof expected.rule.act === "object") {
        frame.writeInt16BE(expected.rule.act.code, errorAt(frame));
        client.write(frame);
      }
      if (expected.rule.act === "hold-answer") this.#late.push(() => void client.write(frame));
      expected.rule.met(expected.seen);
    });
    return (direction, chunk) => (direction === "request" ? requests : answers)(chunk);
  }
}

/** Where the answer to a produce says what became of its first partition. Up to version 8 it is: length, correlation id, count of topics, name, count of partitions, partition, error. */
function errorAt(answer: Buffer): number {
  const afterName = 4 + 4 + 4 + 2 + answer.readInt16BE(12);
  return afterName + 4 + 4;
}

function isTaken(answer: Buffer): boolean {
  return answer.readInt16BE(errorAt(answer)) === 0;
}

function nameOf(number: number): KafkaApi | number {
  return (Object.keys(kafkaApis) as KafkaApi[]).find((name) => kafkaApis[name] === number) ?? number;
}

/** Cuts a stream into its frames; each is handed on whole, with its length. */
function frames(take: (frame: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0);
      take(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  };
}
