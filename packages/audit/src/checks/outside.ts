/** What leaves the ledger or never should enter it: streams, secrets, blobs, dead letters, files. */
import type { Json } from "@loopledger/shared/core/json";
import { placeOf } from "../trail.ts";
import { type Check, whereIs } from "./looking.ts";

/** T6: each client's sequence of a session is the session's, over reconnects. */
export const streams: Check = ({ inputs, trails, findings }) => {
  const last = new Map<string, number>();
  for (const { client, sessionId, seq, eventId } of inputs.clients ?? []) {
    const name = `${client}\n${sessionId}`;
    const before = last.get(name);
    last.set(name, Math.max(seq, before ?? seq));
    const one = trails.get(sessionId)?.accepted[seq - 1];
    const at = { sessionId, partition: one?.entry.partition, offset: one?.entry.offset };
    if (!one) findings.add("T6", at, `${client} was sent seq ${seq}, which the session has not`);
    else if (eventId !== undefined && eventId !== one.record.eventId) findings.add("T6", at, `${client} was sent ${eventId} as seq ${seq}`);
    else if (before !== undefined && seq !== before + 1) findings.add("T6", at, `${client} was sent seq ${seq} after ${before}`);
  }
};

/** H1: in everything that is handed in. */
export const secrets: Check = ({ inputs, entries, findings }) => {
  const canaries = (inputs.expected ?? []).flatMap((row) => (row.kind === "canary" ? [row.text] : []));
  if (canaries.length === 0) return;
  const look = (text: string, where: string, at: Parameters<typeof findings.add>[1]): void => {
    if (canaries.some((canary) => text.includes(canary) || text.includes(JSON.stringify(canary).slice(1, -1)))) findings.add("H1", at, `a canary secret stands in ${where}`);
  };
  for (const { key, text, partition, offset } of entries) look(text ?? "", "the ledger", { sessionId: key, partition, offset });
  for (const row of inputs.views ?? []) look(JSON.stringify(row), "a view", { sessionId: row.kind === "view" ? row.sessionId : null });
  for (const row of inputs.clients ?? []) look(JSON.stringify(row), "a client's stream", { sessionId: row.sessionId });
  for (const row of inputs.deadLetters ?? []) look(JSON.stringify(row), "a dead letter", { partition: row.source.partition, offset: row.source.offset });
  for (const line of inputs.logs ?? []) look(line, "a service's log", {});
};

/** H2: each reference of an accepted record resolves, with its size. */
export const blobs: Check = ({ inputs, trails, findings }) => {
  if (inputs.blobs === undefined) return;
  const kept = new Map(inputs.blobs.map(({ digest, bytes }) => [digest, bytes]));
  for (const trail of trails.values()) {
    for (const one of trail.accepted) {
      for (const { blob, bytes } of referencesIn(one.record.data as Json)) {
        const found = kept.get(blob);
        if (found === undefined) findings.add("H2", whereIs(trail, one), `${blob} is in no store`);
        else if (found !== bytes) findings.add("H2", whereIs(trail, one), `${blob} has ${found} bytes, not ${bytes}`);
      }
    }
  }
};
function referencesIn(value: Json): { readonly blob: string; readonly bytes: number }[] {
  if (value === null || typeof value !== "object") return [];
  const { blob, bytes } = value as { readonly blob?: Json; readonly bytes?: Json };
  const own = typeof blob === "string" && blob.startsWith("sha256:") && typeof bytes === "number" ? [{ blob, bytes }] : [];
  return [...own, ...(Object.values(value) as Json[]).flatMap(referencesIn)];
}

/** H4: one letter a source, one for each malformed goal, and the goals behind it were taken in. */
export const deadLetters: Check = ({ inputs, trails, findings }) => {
  const bySource = Map.groupBy(inputs.deadLetters ?? [], ({ source }) => `${source.topic} ${placeOf(source)}`);
  for (const [name, letters] of bySource) {
    const [first] = letters;
    if (letters.length > 1) findings.add("H4", { partition: first?.source.partition, offset: first?.source.offset }, `${name} has ${letters.length} dead letters`);
  }
  for (const row of inputs.expected ?? []) {
    if (row.kind === "malformed" && !bySource.has(`${row.topic} ${placeOf(row)}`)) {
      findings.add("H4", { partition: row.partition, offset: row.offset }, `${row.topic} ${placeOf(row)} is malformed and has no dead letter`);
    }
    if (row.kind === "goal" && !trails.get(row.sessionId)?.session.submission) {
      findings.add("H4", { sessionId: row.sessionId, partition: row.partition, offset: row.offset }, `the goal at ${row.topic} ${placeOf(row)} was not taken in`);
    }
  }
};

/** H5. */
export const absentFiles: Check = ({ inputs, options, findings }) => {
  for (const row of inputs.expected ?? []) {
    if (row.kind === "absent" && options.exists?.(row.path)) findings.add("H5", {}, `${row.path} is there: a text became a command`);
  }
};
