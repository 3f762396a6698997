/** Who may write: claims, which are a compare-and-set by log order, and the numbers of an owner's records. */
import type { Cycle } from "@loopledger/shared/core/events/fields";
import type { EventType } from "@loopledger/shared/core/events/index";
import { type Refusal, type RowId, refuse } from "../rows.ts";
import { askAtCost, endAs, failUnknown } from "./following.ts";
import type { Rule } from "./rule.ts";
import type { Case, Session } from "./session.ts";

const cycleOf: { readonly [T in EventType]?: Cycle } = {
  tool_requested: "build", tool_result: "build", reconciled: "build", built: "build", compaction: "build", check: "review",
};
/** What an owner may still say of its dispatch while a retry is armed: what settles, gives up, or only informs. */
const whileWaiting: ReadonlySet<EventType> = new Set(["tool_result", "reconciled", "cycle_failed", "handed_back", "error", "status"]);

export const claimed: Rule<"claimed"> = {
  refuses({ session, record }) {
    if (session.end) return refuse("after_end", "X1", "a claim after the end");
    const { epoch, ownerId, n, data } = record;
    if (epoch === undefined || ownerId === undefined || n !== undefined) return refuse("malformed", "F1", "a claim carries epoch and owner, and no number");
    if (epoch === session.epoch) {
      return session.owner?.id === ownerId ? refuse("duplicate", "F1", `epoch ${epoch} is claimed already`) : refuse("rival", "F1", `epoch ${epoch} is another owner's`);
    }
    if (epoch < session.epoch) return refuse("stale_epoch", "F1", `epoch ${epoch} after ${session.epoch}`);
    if (epoch > session.epoch + 1) return refuse("gap", "F1", `epoch ${epoch} after ${session.epoch}`);
    if (session.open?.eventId !== data.dispatch) return refuse("not_owed", "F5", `the claim names ${data.dispatch}, which is not open`);
    if (!data.serves.includes(session.open.cycle)) return refuse("wrong_cycle", "F5", `the claim does not serve the open ${session.open.cycle}`);
    if (session.suspension && session.unsettled.size === 0) return refuse("suspended", "T2", `the session waits (${session.suspension.reason})`);
    return null;
  },
  applies(c) {
    const { session, record, entry } = c;
    const { open, owner } = session;
    if (!open || record.ownerId === undefined || record.epoch === undefined) return;
    const cost = session.purse.costUsd;
    const again = owner?.id === record.ownerId;
    const takesOver = !again && owner !== null && open.runs > 0;
    if (!again) {
      open.fruitless = takesOver && session.n === open.nAtStart ? open.fruitless + 1 : 0;
      open.runs += 1;
      session.purse.forfeit();
    }
    if (takesOver) session.takeovers += 1;
    open.nAtStart = 0;
    session.epoch = record.epoch;
    session.n = 0;
    session.claimedAt = entry.time;
    session.owner = { id: record.ownerId, role: record.actor.kind === "checker" ? "checker" : "worker", serves: record.data.serves };
    session.purse.run(entry.time);
    askAtCost(c, cost);
    findUnknown(c);
  },
};

/** A claim over an `unsafe` intent fails closed; so does the last takeover over any. */
function findUnknown(c: Case): void {
  const { session } = c;
  const unsafe = [...session.unsettled].some((key) => session.effects.get(key)?.contract === "unsafe");
  const tired = (session.open?.fruitless ?? 0) >= (session.submission?.bounds.takeovers ?? Number.POSITIVE_INFINITY);
  if (unsafe || (tired && session.unsettled.size > 0)) failUnknown(c);
  else if (tired) endAs(c, { disposition: "handed_off", reason: "takeover_limit" });
}

/** Where an owner record stands in its tenure, and whether it serves what is open. */
export function fenced({ session, record }: Case): Refusal | null {
  return ended(session, { record } as Case) ?? numbered({ session, record } as Case) ?? serving({ session, record } as Case);
}

function ended(session: Session, { record }: Case): Refusal | null {
  if (!session.end) return null;
  if ((record.epoch ?? 0) < session.epoch) return refuse("stale_epoch", "F3", `epoch ${record.epoch} under ${session.epoch}`);
  const settles = session.isUnknown && record.type === "reconciled" && session.effects.get(record.data.key)?.contract === "lookup";
  return settles ? null : refuse("after_end", "X1", `${record.type} after ${session.end.disposition}`);
}

function numbered({ session, record }: Case): Refusal | null {
  const { epoch, ownerId, n } = record;
  if (epoch === undefined || ownerId === undefined || n === undefined) return refuse("malformed", "F3", "an owner record carries epoch, owner and number");
  if (epoch < session.epoch) return refuse("stale_epoch", "F3", `epoch ${epoch} under ${session.epoch}`);
  if (epoch > session.epoch) return refuse("gap", "F3", `epoch ${epoch} under ${session.epoch}`);
  if (session.owner === null) return refuse("stale_epoch", "F3", "nobody owns the session");
  if (session.owner.id !== ownerId) return refuse("rival", "F3", `${ownerId} writes under ${session.owner.id}`);
  if (n <= session.n) return refuse("duplicate", session.accepted.has(record.eventId) ? "A3" : "S3", `n ${n} after ${session.n}`);
  return n === session.n + 1 ? null : refuse("gap", "S3", `n ${n} after ${session.n}`);
}

function serving({ session, record }: Case): Refusal | null {
  const { open, owner } = session;
  if (!open || record.cause?.eventId !== open.eventId) return refuse("not_owed", "F5", `${record.type} for ${record.cause?.eventId}, open is ${open?.eventId ?? "nothing"}`);
  const row: RowId = record.type === "tool_requested" && open.cycle === "review" ? "E13" : "F5";
  if (owner && !owner.serves.includes(open.cycle)) return refuse("wrong_cycle", row, `the owner does not serve the open ${open.cycle}`);
  const wanted = cycleOf[record.type];
  if (wanted && wanted !== open.cycle) return refuse("wrong_cycle", row, `${record.type} in a ${open.cycle}`);
  if (session.waitsForRetry && !whileWaiting.has(record.type)) return refuse("suspended", "T2", `${record.type} while a retry is armed`);
  return null;
}
