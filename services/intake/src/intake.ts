/**
 * The intake: goals that other systems put on a topic become sessions of the ledger.
 *
 * N1. A record's position moves only after its goal is on the ledger, or after what cannot be taken in is among the dead letters with
 *     its source position, the reason and its original bytes. Nothing is lost, and nothing holds up what comes behind it.
 * N2. A record that is handed on again changes nothing: its goal is the same session, its dead letter the same letter.
 * N3. What is away, the ledger or the registry, is waited for; it is no fault of the record.
 * N4. Records of one session are taken in order; different ones side by side.
 */
import { isLoopledgerError, LoopledgerError, messageOf } from "@loopledger/shared/core/errors";
import type { Goal } from "@loopledger/shared/core/events/goal";
import { positionName } from "@loopledger/shared/core/topics/dead-letters";
import type { DeadLetters, Inbox, InboxGap, InboxReader, InboxRecord, NewDeadLetter } from "@loopledger/shared/ports";
import { Counter, type Engine, type Family, LabelledCounter, type Part, submitGoal } from "@loopledger/shared/runtime";
import { type Reason, reasons, type Refused, refused } from "./reasons.ts";
import { type Knowledge, readRecord, type Taken } from "./record.ts";
import { textsOf } from "./texts.ts";

export interface IntakeOptions {
  /** Handlers that a goal names and nobody has; left out, every name is taken. */
  readonly missingHandlers?: (goal: Goal) => readonly string[];
}
export interface Intake {
  ready(): boolean;
  /** Resolves with null when it was stopped. */
  readonly over: Promise<Error | null>;
  /** Leaves the topic; what was under way is taken in by the next one. */
  stop(): Promise<void>;
  figures(): readonly Family[];
}

/** Resolves when the first attempt to join the topic's readers is over, whether it is ready then or not. */
export async function startIntake(engine: Engine, options: IntakeOptions = {}): Promise<Intake> {
  const { inbox, deadLetters } = engine;
  if (!inbox || !deadLetters) throw new TypeError("An intake needs a topic of goals and a place for dead letters.");
  const service = new Service(engine, { inbox, deadLetters, missingHandlers: options.missingHandlers ?? (() => []) });
  await service.start();
  return service;
}

/** Goals that are taken in at a time: their histories are looked for together. */
const atOnce = 256;
/** Tries of a record whose handling throws what nobody foresaw; all eight take about 16 s. */
const triesMax = 8;

interface Needs { readonly inbox: Inbox; readonly deadLetters: DeadLetters; readonly missingHandlers: Knowledge["missingHandlers"] }
interface Read { readonly record: InboxRecord; readonly taken: Taken }

class Service implements Intake {
  readonly #engine: Engine;
  readonly #needs: Needs;
  readonly #known: Knowledge;
  readonly #part: Part;
  /** How often the handling of a record has thrown, by its position. */
  readonly #tries = new Map<string, number>();
  readonly #ended = Promise.withResolvers<null>();
  readonly #goals = new Counter({ name: "loopledger_intake_goals_total", help: "Records of the goals topic that became a session or were one" });
  readonly #letters = new LabelledCounter(
    { name: "loopledger_intake_dead_letters_total", help: "Records of the goals topic that were set aside" }, "reason", Object.keys(reasons) as Reason[],
  );
  #reader: InboxReader | null = null;
  #stopped = false;
  #cancelStart: () => void = () => undefined;

  constructor(engine: Engine, needs: Needs) {
    this.#engine = engine;
    this.#needs = needs;
    this.#known = { sha256: engine.ids.sha256, missingHandlers: needs.missingHandlers };
    this.#part = engine.supervision.part("intake");
  }

  get over(): Promise<Error | null> {
    return this.#ended.promise;
  }
  ready(): boolean {
    return this.#reader !== null && !this.#stopped;
  }
  async start(): Promise<void> {
    try {
      await this.#join();
    } catch (error) {
      this.#cancelStart = this.#part.again(error, () => this.#join(), "joining");
    }
  }
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#cancelStart();
    await this.#reader?.close();
    this.#ended.resolve(null);
  }
  figures(): readonly Family[] {
    return [this.#goals.family(), this.#letters.family()];
  }

  async #join(): Promise<void> {
    const reader = await this.#needs.inbox.read({
      handle: (records) => this.#handle(records), gap: (gap) => this.#tellGap(gap),
      troubled: (error) => {
        if (!this.#stopped && !(error instanceof NotTaken)) this.#engine.supervision.part("intake.topic").again(error, () => undefined);
      },
    });
    if (this.#stopped) return reader.close();
    this.#reader = reader;
  }

  /** Records of one partition; fulfilled when the position may move. */
  async #handle(records: readonly InboxRecord[]): Promise<void> {
    const key = `partition ${records[0]?.source.partition ?? 0}`;
    try {
      await this.#takeAll(records);
      this.#part.works(key);
    } catch (error) {
      if (!this.#stopped) this.#part.failed(error, key);
      throw new NotTaken("The records were not taken in yet.", { cause: error });
    }
  }

  async #takeAll(records: readonly InboxRecord[]): Promise<void> {
    const failures: unknown[] = [];
    const letters: NewDeadLetter[] = [];
    const setAside = (record: InboxRecord, why: Refused): void => void letters.push(this.#letterOf(record, why));
    const bySession = new Map<string, Read[]>();
    for (const record of records) {
      const taken = await this.#read(record).catch((error: unknown) => this.#judge(record, error, failures));
      if (taken === null) continue;
      if ("reason" in taken) setAside(record, taken);
      else bySession.set(taken.sessionId, [...(bySession.get(taken.sessionId) ?? []), { record, taken }]);
    }
    const sessions = [...bySession.values()];
    const work = async (): Promise<void> => {
      for (let session = sessions.shift(); session; session = sessions.shift()) {
        for (const { record, taken } of session) {
          const why = await this.#submit(record, taken).catch((error: unknown) => this.#judge(record, error, failures));
          if (why) setAside(record, why);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, sessions.length) }, work));
    await this.#needs.deadLetters.put(letters);
    if (failures.length > 0) throw failures[0];
    this.#count(records, letters);
  }

  async #read(record: InboxRecord): Promise<Taken | Refused> {
    return readRecord(await textsOf(record, this.#engine.schemas), this.#known);
  }
  async #submit({ source }: InboxRecord, { goal, sessionId }: Taken): Promise<Refused | null> {
    const { kind } = await submitGoal(this.#engine, goal, { actor: { kind: "intake", id: positionName(source) }, id: sessionId });
    return kind === "conflict" ? refused("id_conflict", `The session ${sessionId} belongs to another goal.`) : null;
  }

  /** What is away is waited for; what the ledger does not take, and what fails again and again by itself, is the record's own. */
  #judge({ source }: InboxRecord, error: unknown, failures: unknown[]): Refused | null {
    if (isLoopledgerError(error, "batch_too_large")) return refused("too_large", error.message);
    const position = positionName(source);
    const tries = (this.#tries.get(position) ?? 0) + 1;
    if (!isLoopledgerError(error)) this.#tries.set(position, tries);
    if (!isLoopledgerError(error) && tries >= triesMax) return refused("handling_failed", `${reasons.handling_failed} ${messageOf(error)}`);
    failures.push(error);
    return null;
  }

  #letterOf({ source, key, value, headers, repeats }: InboxRecord, { reason, detail }: Refused): NewDeadLetter {
    return { source, reason, detail, at: new Date(this.#engine.clock.now()).toISOString(), key, value, headers, ...(repeats && { repeats }) };
  }
  #count(records: readonly InboxRecord[], letters: readonly NewDeadLetter[]): void {
    for (const { source } of records) this.#tries.delete(positionName(source));
    this.#goals.add(records.length - letters.length);
    for (const { source, reason } of letters) {
      this.#letters.add(reason as Reason);
      this.#engine.log.warn({ source, reason }, "intake: a record was set aside");
    }
  }
  /** Nobody can bring back what retention took: it stays red until a person has seen it and started the intake anew. */
  #tellGap({ from: { topic, partition, offset }, to }: InboxGap): void {
    const lost = new LoopledgerError("ledger_lost", `${to - offset} records of ${topic}, partition ${partition}, from offset ${offset} up to ${to}, were removed before they were read.`, {
      next: "Ask whoever put them there to send those goals again, and give the topic a longer retention; the intake goes on with what is left.",
    });
    this.#engine.supervision.part("intake.gap").failed(lost, `partition ${partition}`);
  }
}

/** The topic's reader hands the same records on again. */
class NotTaken extends Error {
  override readonly name = "NotTaken";
}
