/** What can be said of the ledger's rows without any effect, view or client: places, ids, acknowledgements, schemas. */
import type { Case } from "../fold/session.ts";
import { derivedId, digestOf, sha256, same } from "../fold/hashing.ts";
import { read } from "../fold/judge.ts";
import type { Accepted, Trail } from "../trail.ts";
import { placeOf, recordIn } from "../trail.ts";
import { type Check, type Looking, whereIs } from "./looking.ts";

/** S4: in the order of the dump. */
export const offsets: Check = ({ entries, findings }) => {
  const last = new Map<number, number>();
  for (const { partition, offset, key } of entries) {
    const before = last.get(partition);
    if (before !== undefined && offset <= before) findings.add("S4", { sessionId: key, partition, offset }, `offset ${offset} after ${before}`);
    last.set(partition, Math.max(offset, before ?? offset));
  }
};

/** A1: what was acknowledged is where it was acknowledged. A repeat of the same bytes may stand elsewhere too. */
export const acknowledged: Check = ({ inputs, entries, findings }) => {
  const byPlace = new Map(entries.map((entry) => [placeOf(entry), entry]));
  for (const { partition, offset, eventId, digest } of inputs.acks ?? []) {
    const entry = byPlace.get(placeOf({ partition, offset }));
    const record = entry ? recordIn(read(entry)) : null;
    const at = { sessionId: entry?.key ?? null, partition, offset };
    if (record?.eventId !== eventId) findings.add("A1", at, `acknowledged ${eventId}, found ${record?.eventId ?? "nothing"}`);
    else if (digest !== undefined && digest !== `sha256:${sha256(entry?.text ?? "")}`) findings.add("A1", at, `${eventId} stands there with another digest`);
  }
};

/** A3: by whatever rule, no id counts twice. */
export const onceEach: Check = ({ trails, findings }) => {
  for (const trail of trails.values()) {
    const seen = new Map<string, Accepted>();
    for (const one of trail.accepted) {
      const before = seen.get(one.record.eventId);
      if (before) findings.add("A3", whereIs(trail, one), `${one.record.eventId} counted at ${placeOf(before.entry)} already`);
      seen.set(one.record.eventId, one);
    }
  }
};

/** F6: one process start an owner id, over all sessions; equal ids say equal things. */
export const identities: Check = (looking) => {
  const starts = new Map<string, string>();
  for (const trail of looking.trails.values()) {
    for (const one of trail.accepted) {
      const { record } = one;
      if (record.type !== "claimed" || record.ownerId === undefined) continue;
      const { pid, startTime, bootId, pidNamespace } = record.data.host;
      const start = [pid, startTime, bootId, pidNamespace].join("/");
      const before = starts.get(record.ownerId) ?? start;
      if (before !== start) looking.findings.add("F6", whereIs(trail, one), `${record.ownerId} is process ${before} and process ${start}`);
      starts.set(record.ownerId, before);
    }
    equalIds(trail, looking);
  }
};

function equalIds(trail: Trail, { findings }: Looking): void {
  const first = new Map<string, string>();
  const all = [...trail.accepted, ...trail.voided].sort((a, b) => a.entry.offset - b.entry.offset);
  for (const one of all) {
    const { record } = one;
    if (!record) continue;
    const content = contentOf(trail.session.id, record);
    if (content === null) continue;
    const id = `${record.ownerId ?? ""}\n${record.eventId}`;
    const before = first.get(id) ?? content;
    if (before !== content) findings.add("F6", whereIs(trail, one), `${record.eventId} says two things`);
    first.set(id, before);
  }
}
/** What must be equal under equal ids: an owner's whole record; of a derived one its cause and content. Null for acts. */
function contentOf(sessionId: string, record: Case["record"]): string | null {
  if (record.n !== undefined) return digestOf(record);
  if (record.cause === undefined || record.eventId !== derivedId(sessionId, record.cause.eventId, record.type)) return null;
  return digestOf({ cause: record.cause.eventId, type: record.type, data: record.data });
}

/** S6: schemas of all releases, and verdicts that several releases gave on one entry. */
export const releases: Check = ({ inputs, findings }) => {
  const schemas = new Map<string, string>();
  for (const { type, typeVersion, digest, release } of inputs.schemas ?? []) {
    const name = `${type} ${typeVersion}`;
    const before = schemas.get(name) ?? digest;
    if (before !== digest) findings.add("S6", {}, `release ${release} has another schema of ${name}`);
    schemas.set(name, before);
  }
  const said = new Map<string, NonNullable<typeof inputs.verdicts>[number]>();
  for (const row of inputs.verdicts ?? []) {
    if (row.release === undefined || row.verdict === "held") continue;
    const before = said.get(placeOf(row));
    const differs = before !== undefined && !same([before.verdict, before.reason ?? null], [row.verdict, row.reason ?? null]);
    if (differs) findings.add("S6", { partition: row.partition, offset: row.offset }, `release ${row.release} says ${row.verdict}, ${before.release} said ${before.verdict}`);
    said.set(placeOf(row), before ?? row);
  }
};

/** P3: who decided is one of those who may, where the run says who they are. */
export const approvers: Check = ({ inputs, trails, findings }) => {
  const may = new Set((inputs.expected ?? []).flatMap((row) => (row.kind === "approver" ? [row.id] : [])));
  if (may.size === 0) return;
  for (const trail of trails.values()) {
    for (const one of trail.accepted) {
      if (one.record.type === "approval_decided" && !may.has(one.record.actor.id)) findings.add("P3", whereIs(trail, one), `${one.record.actor.id} has not the role`);
    }
  }
};

/** E5: digests and default keys follow from the record itself. */
export const defaultKeys: Check = ({ trails, findings }) => {
  for (const trail of trails.values()) {
    for (const one of trail.accepted) {
      if (one.record.type !== "tool_requested") continue;
      const { tool, args, argsDigest, key, keySource, leaf, iteration, ordinal } = one.record.data;
      if (digestOf(args) !== argsDigest) findings.add("E5", whereIs(trail, one), `${key}: the digest is not that of the arguments`);
      if (keySource !== "default") continue;
      const { id } = trail.session;
      const hashed = `${tool}:${digestOf([id, leaf, iteration, tool, args, ordinal]).slice(7, 39)}`;
      const ofMaker = tool.startsWith("maker:") ? `maker:${id}:${leaf}:${iteration}` : hashed;
      if (key !== hashed && key !== ofMaker) findings.add("E5", whereIs(trail, one), `${key} is not what session, leaf, iteration, tool, arguments and ordinal give`);
    }
  }
};

/** E14: late news from the writer of an intent that was settled as not happened. */
export const lateNews: Check = ({ trails, findings }) => {
  for (const trail of trails.values()) {
    const concluded = new Map<string, { readonly intent: string; readonly offset: number }>();
    const intents = new Map<string, { readonly key: string; readonly epoch: number | undefined; readonly ownerId: string | undefined }>();
    for (const { record, entry } of trail.accepted) {
      if (record.type === "tool_requested") intents.set(record.eventId, { key: record.data.key, epoch: record.epoch, ownerId: record.ownerId });
      if (record.type === "reconciled" && record.data.outcome === "did_not_happen") concluded.set(record.data.key, { intent: record.data.intent, offset: entry.offset });
    }
    for (const one of trail.voided) {
      if (one.record?.type !== "tool_result" || one.record.data.outcome !== "confirmed") continue;
      const settled = concluded.get(one.record.data.key);
      const intent = settled ? intents.get(settled.intent) : undefined;
      const late = settled && intent && one.entry.offset > settled.offset && one.record.epoch === intent.epoch && one.record.ownerId === intent.ownerId;
      if (late) findings.add("E14", whereIs(trail, one), `${intent.key} was settled as not happened, and its caller confirms it`);
    }
  }
};
