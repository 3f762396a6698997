/** Views against the audit's own fold at their cursors, and the cursors among themselves. */
import { canonicalJson } from "@loopledger/shared/core/json";
import type { Session } from "../fold/session.ts";
import { type StatusDocument, statusOf } from "../fold/view.ts";
import type { ViewsRow } from "../inputs.ts";
import type { Findings } from "../report.ts";
import type { RowId } from "../rows.ts";
import type { Step, Watch } from "../trail.ts";
import type { Check } from "./looking.ts";

type View = Extract<ViewsRow, { kind: "view" }>;

/** Compares each view at the moment when the fold has reached its cursor. */
export class ViewWatch implements Watch {
  readonly #waiting = new Map<string, View[]>();
  readonly #findings: Findings;

  constructor(views: readonly ViewsRow[], findings: Findings) {
    this.#findings = findings;
    for (const row of views) if (row.kind === "view") this.#waiting.set(row.sessionId, [...(this.#waiting.get(row.sessionId) ?? []), row]);
    for (const list of this.#waiting.values()) list.sort((a, b) => nextOf(a) - nextOf(b));
  }
  before({ session, read: { entry } }: Step): void {
    const list = this.#waiting.get(session.id);
    while (list?.[0] && nextOf(list[0]) <= entry.offset) this.#compare(session, list.shift() as View);
  }
  /** The session's log is at its end. */
  over(session: Session): void {
    for (const view of this.#waiting.get(session.id) ?? []) this.#compare(session, view);
    this.#waiting.delete(session.id);
  }
  /** Views of sessions that the ledger does not hold. */
  finish(): void {
    for (const sessionId of this.#waiting.keys()) this.#findings.add("T1", { sessionId }, "a view of a session that is not on the ledger");
  }

  #compare(session: Session, { status, projection }: View): void {
    const own = statusOf(session);
    if (canonicalJson(own) === canonicalJson(status)) return;
    const members = Object.keys({ ...own, ...status }).filter((name) => canonicalJson(own[name] ?? null) !== canonicalJson(status[name] ?? null));
    const shown = members.slice(0, 3).map((name) => `${name} ${brief(status[name])} for ${brief(own[name])}`).join("; ");
    this.#findings.add(rowOf({ session, own, status, members }), { sessionId: session.id, partition: session.home, offset: session.offset }, `${projection === undefined ? "" : `${projection}: `}${shown}`);
  }
}
const nextOf = (view: View): number => view.next ?? Number.POSITIVE_INFINITY;
const brief = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 120);

interface Difference {
  readonly session: Session;
  readonly own: StatusDocument;
  readonly status: StatusDocument;
  readonly members: readonly string[];
}
/** Some ways in which a view is wrong have a row of their own. */
function rowOf({ session, status, members }: Difference): RowId {
  if (members.includes("disposition") || members.includes("reason")) {
    if (session.hold && status["reason"] !== "unknown_schema") return "S5";
    if (session.isUnknown && status["reason"] !== "incomplete_tool_turn") return "E4";
  }
  const { costUsd, tokens } = session.purse.forfeited;
  return members.length === 1 && members[0] === "budget" && (costUsd > 0 || tokens > 0) ? "B6" : "T1";
}

/** T3: within one projection and ledger id; a projection that was begun anew starts from zero. */
export const cursors: Check = ({ inputs, findings }) => {
  const last = new Map<string, number>();
  for (const row of inputs.views ?? []) {
    if (row.kind === "rebuilt") for (const name of [...last.keys()]) if (name.startsWith(`${row.projection ?? ""}\n`)) last.delete(name);
    if (row.kind !== "cursor") continue;
    const name = `${row.projection ?? ""}\n${row.ledgerId ?? ""}\n${row.partition}`;
    const before = last.get(name) ?? 0;
    if (row.next < before) findings.add("T3", { partition: row.partition, offset: row.next }, `the cursor fell from ${before} to ${row.next}`);
    last.set(name, Math.max(row.next, before));
  }
};
