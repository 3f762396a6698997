/** A story in which something was written that no reader should take, and readers who took it. */
import type { AuditInputs, AuditOptions, DumpRow, EffectRow, RowId, VerdictRow } from "@loopledger/audit";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import { digestOf } from "@loopledger/shared/core/json";
import { statusOf } from "@loopledger/shared/core/session/status";
import { type Act, type Place, Story, asks, sha256, testSession, toBuild, wordFor } from "@loopledger/shared/testing";

export interface Planted {
  readonly row: RowId;
  readonly what: string;
  readonly inputs: AuditInputs;
  readonly options?: AuditOptions;
}
/** Each of these must give exactly its row, the clean twin none where there is one. */
export type Planting = () => Planted;

export function dumpOf(story: Pick<Story, "entries">): DumpRow[] {
  return story.entries.map(({ partition, offset, time, key, text, verified }) => ({ partition, offset, time, key, text, value: text, verified }));
}
export function verdictsOf(story: Pick<Story, "entries" | "verdicts">): VerdictRow[] {
  return story.verdicts.map((verdict, index) => {
    const { partition, offset } = story.entries[index] as Story["entries"][number];
    return { partition, offset, verdict: verdict.kind, reason: verdict.kind === "void" ? verdict.reason : null, seq: verdict.kind === "accepted" ? verdict.seq : null };
  });
}
export function viewOf(story: Story, over: Record<string, unknown> = {}): NonNullable<AuditInputs["views"]>[number] {
  return { kind: "view", sessionId: testSession, status: { ...(statusOf(story.state) as unknown as Record<string, unknown>), ...over } };
}

export class Plant {
  readonly story = new Story();
  readonly #taken = new Map<number, VerdictRow>();

  given(...acts: Act[]): this {
    this.story.given(...acts);
    return this;
  }
  wait(ms: number): this {
    this.story.wait(ms);
    return this;
  }
  /** Appended and void, as it should be. */
  refused(act: Act, place: Place = {}): this {
    this.story.append(act, place);
    if (wordFor(this.story.verdict) === "accepted") throw new Error("it is accepted");
    return this;
  }
  /** Appended, by the rules void, and taken by a reader. */
  taken(act: Act, place: Place = {}): this {
    return this.refused(act, place).#says({ verdict: "accepted" });
  }
  takenText(text: string): this {
    this.story.appendText(text);
    return this.#says({ verdict: "accepted" });
  }
  /** Appended, by the rules accepted, and voided by a reader. */
  dropped(act: Act): this {
    this.story.given(act);
    return this.#says({ verdict: "void", reason: "rival" });
  }
  #says(verdict: Pick<VerdictRow, "verdict" | "reason">): this {
    const { partition, offset } = this.story.entries.at(-1) as Story["entries"][number];
    this.#taken.set(this.story.entries.length - 1, { partition, offset, ...verdict });
    return this;
  }

  inputs(more: Partial<AuditInputs> = {}): AuditInputs {
    const verdicts = verdictsOf(this.story).map((row, index) => this.#taken.get(index) ?? row);
    return { ledger: dumpOf(this.story), verdicts, ...more };
  }
}

/** A record that a sentence of the test changes in one thing. */
export const changed = (act: Act, over: Record<string, unknown>): Act => (story) => {
  const record = typeof act === "function" ? act(story) : act;
  return { ...record, ...over } as LedgerRecord;
};

export const changedData = (act: Act, over: Record<string, unknown>): Act => (story) => {
  const record = typeof act === "function" ? act(story) : act;
  return { ...record, data: { ...record.data, ...over } } as LedgerRecord;
};

/** An owner in its first build that asks for a call under this key. */
export const asking = (key = "k1", over: Parameters<typeof asks>[1] = {}): Plant => new Plant().given(...toBuild(), asks(key, over));

/** Rows of a target's log for the calls of `asks`. */
export function effectOf(key: string, over: Partial<EffectRow> & { readonly at: number }): EffectRow {
  return { kind: "application", tool: "deploy", key, session: testSession, epoch: 1, argsDigest: digestOf({ to: key }, sha256), ...over };
}
