/** Topics of a prefix that nobody else has, who puts goals there, intakes in this process and as processes, and what came of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openEngine } from "@loopledger/composition/engine/open-engine";
import { readDeployment } from "@loopledger/composition/settings/deployment";
import { type Intake, type IntakeOptions, startIntake } from "@loopledger/intake/intake";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { connectKafka, openKafkaDeadLetters, openTopicReader, openTopicWriter, type RawRecord } from "@loopledger/shared/kafka";
import { openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import type { DeadLetter, LogEntry } from "@loopledger/shared/ports";
import type { Engine } from "@loopledger/shared/runtime";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { removeKeys } from "../contract/redis-outside.ts";
import { kafkaBrokers, makeTopics, redisUrl, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { environmentOn, openGrounds, type Variables } from "../support/worlds/grounds.ts";
import { acceptedOf, foldSession } from "../support/worlds/oracle.ts";

const patienceMs = 90_000;
const root = resolve(import.meta.dirname, "../..");
const compiled = join(tmpdir(), "loopledger-compile-cache");
const clock = createSystemClock();
const ids = createSystemIds();

export interface Ended {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}
export interface Program {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has written so far. */
  text(): string;
  /** Its address, once it takes work. */
  ready(): Promise<string>;
}

export class Stage {
  readonly prefix: string;
  readonly variables: Variables;
  readonly folder = mkdtempSync(join(tmpdir(), "loopledger-intake-"));
  readonly #endings: (() => Promise<unknown>)[] = [];

  private constructor(prefix: string, variables: Variables) {
    this.prefix = prefix;
    this.variables = variables;
  }

  static async make({ partitions = 1, more = {}, kafka }: { readonly partitions?: number; readonly more?: Variables; readonly kafka?: string } = {}): Promise<Stage> {
    const prefix = uniquePrefix("intake");
    const [brokers, redis] = await Promise.all([kafka ?? kafkaBrokers(), redisUrl()]);
    await makeTopics(prefix, { brokers, partitions });
    const stage = new Stage(prefix, { LOOPLEDGER_KAFKA_BROKERS: brokers, LOOPLEDGER_REDIS_URL: redis, LOOPLEDGER_TOPIC_PREFIX: prefix, ...more });
    stage.#endings.push(() => removeTopics(prefix, { brokers }), () => removeKeys(redis, `${prefix}:*`));
    return stage;
  }
  async close(): Promise<void> {
    for (const end of this.#endings.splice(0).reverse()) await end();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
  get connection(): { readonly brokers: string[] } {
    return { brokers: (this.variables["LOOPLEDGER_KAFKA_BROKERS"] ?? "").split(",") };
  }
  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** Puts records on the goals topic one after the other, so that their order is theirs. */
  async put(...records: readonly RawRecord[]): Promise<void> {
    const writer = await openTopicWriter({ connection: this.connection, topic: `${this.prefix}.goals`, clock, ids });
    try {
      for (const record of records) await writer.write([record]);
    } finally {
      await writer.close();
    }
  }
  /** Changes one setting of a topic of the prefix. */
  async setting(role: string, name: string, value: string): Promise<void> {
    const topic = `${this.prefix}.${role}`;
    const admin = await openKafkaAdmin(this.connection);
    try {
      await admin.configure(topic, { ...(await admin.topics([topic])).get(topic)?.overrides, [name]: value });
    } finally {
      await admin.close();
    }
  }
  /** Takes away the goals topic's records before an offset, as retention would. */
  async cutGoals(offset: number): Promise<void> {
    const admin = connectKafka(this.connection).admin();
    await admin.connect();
    await admin.fetchTopicOffsets(`${this.prefix}.goals`);
    await admin.deleteTopicRecords({ topic: `${this.prefix}.goals`, partitions: [{ partition: 0, offset: String(offset) }] });
    await admin.disconnect();
  }
  /** An intake in this process. */
  async intake(options: IntakeOptions = {}, adapt: (engine: Engine) => Engine = (engine) => engine, { views = false }: { readonly views?: boolean } = {}): Promise<{ readonly intake: Intake; readonly engine: Engine }> {
    const opened = await openEngine(readDeployment(this.variables, join(this.folder, ".loopledger")), { history: true, views, logLevel: "silent" });
    const intake = await startIntake(adapt(opened.engine), options);
    this.#endings.push(opened.close, () => intake.stop());
    return { intake, engine: opened.engine };
  }
  service(name: string, more: Variables = {}): Program {
    return this.#spawn([join(root, "services", name, "src/main.ts")], more);
  }
  command(words: readonly string[], more: Variables = {}): Program {
    return this.#spawn([join(root, "packages/cli/src/main.ts"), ...words], more);
  }
  run(...words: string[]): Promise<Ended> {
    return this.command(words).ended;
  }
  #spawn(words: readonly string[], more: Variables): Program {
    const env = environmentOn({ name: "", variables: this.variables, remove: async () => undefined }, { NODE_COMPILE_CACHE: compiled, NO_COLOR: "1", LOOPLEDGER_LOG_LEVEL: "error", LOOPLEDGER_PORT: "0", ...more });
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...words], { cwd: this.folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const said = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => { said.out += text; });
    child.stderr.setEncoding("utf8").on("data", (text: string) => { said.err += text; });
    const ended = new Promise<Ended>((done) => child.once("close", (code, signal) => done({ code: code ?? signal ?? "", ...said })));
    const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
    this.#endings.push(async () => {
      if (!isOver()) child.kill("SIGKILL");
      await ended;
    });
    return {
      child, ended, text: () => said.out + said.err,
      ready: async () => {
        const found = await until(() => /^ready ?(http:\S+)?$/m.exec(said.out) ?? (isOver() ? "over" : ""), { what: `a program to be ready: ${said.err}`, timeoutMs: patienceMs });
        if (found === "over") throw new Error(`It ended before it was ready: ${said.err}`);
        return found[1] ?? "";
      },
    };
  }

  async letters(): Promise<readonly DeadLetter[]> {
    const letters = openKafkaDeadLetters({ connection: this.connection, prefix: this.prefix, clock, ids });
    try {
      const { items } = await letters.list({ limit: 1_000 });
      const whole = await Promise.all(items.map(({ id }) => letters.get(id)));
      return whole.flatMap((one) => one ?? []).sort((a, b) => a.source.offset - b.source.offset);
    } finally {
      await letters.close();
    }
  }
  /** Every record on the dead-letter topic, repeats too. */
  async lettersWritten(): Promise<number> {
    const offsets: number[] = [];
    const reader = await openTopicReader({
      connection: this.connection, topic: `${this.prefix}.dead-letters`, group: `${this.prefix}.looking`, gap: () => undefined, log: () => undefined,
      handle: async (records) => void offsets.push(...records.map(({ offset }) => offset)),
    });
    const known = (await this.letters()).length;
    await until(() => offsets.length >= known, { what: "the letters", timeoutMs: patienceMs });
    await reader.close();
    return offsets.length;
  }
  /** What the ledger holds, session by session. */
  async ledger(): Promise<LedgerFound> {
    const grounds = { name: "", variables: this.variables, remove: async () => undefined };
    const { ledger, close } = await openGrounds(grounds, join(this.folder, ".loopledger"));
    try {
      const entries: LogEntry[] = [];
      for (let partition = 0; partition < ledger.partitions; partition++) entries.push(...(await ledger.read(partition, 0 as Offset, 1_000_000)));
      return new LedgerFound(Map.groupBy(entries.filter(({ key }) => !key.startsWith("_ledger/")), ({ key }) => key));
    } finally {
      await close();
    }
  }
  async sessions(): Promise<string[]> {
    return (await this.ledger()).sessions();
  }
  waitFor<T>(what: string, condition: () => T | Promise<T>): ReturnType<typeof until<T>> {
    return until(condition, { what, timeoutMs: patienceMs });
  }
}

class LedgerFound {
  readonly #entries: ReadonlyMap<string, readonly LogEntry[]>;
  constructor(entries: ReadonlyMap<string, readonly LogEntry[]>) {
    this.#entries = entries;
  }
  sessions(): string[] {
    return [...this.#entries.keys()].sort();
  }
  /** The goals that were accepted of a session: one, or something is wrong. */
  goals(sessionId: string): { readonly text: string; readonly by: string }[] {
    const folded = foldSession(this.#entries.get(sessionId) ?? [], sessionId as SessionId);
    return acceptedOf(folded).flatMap((record) => (record.type === "goal_submitted" ? [{ text: record.data.goal.goal, by: `${record.actor.kind} ${record.actor.id}` }] : []));
  }
}

export const goalText = (more: object = {}): string => JSON.stringify({ goal: "Mend it", maker: "m", check: "c", ...more });
