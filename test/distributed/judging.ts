/** The audit's word on a fleet: from the dump of its ledger, the target's log and what its views say. */
import type { Report } from "@loopledger/audit";
import { until } from "../support/until.ts";
import { type Fleet, patienceMs } from "./fleet.ts";

/** As an operator does it: dump, list, audit. The views are waited for first: the projector may be a moment behind. */
export async function auditOf(fleet: Fleet, { views = true }: { readonly views?: boolean } = {}): Promise<Report> {
  if (views) await until(async () => (await Promise.all([...fleet.submitted.keys()].map((id) => fleet.view(id)))).every((view) => view?.disposition === "done"), { what: "the views to say done", timeoutMs: patienceMs });
  const write = async (name: string, words: readonly string[]): Promise<void> => {
    const { code, out, err } = await fleet.run(...words);
    if (code !== 0) throw new Error(`${words.join(" ")} left with ${code}: ${err}`);
    fleet.write(name, out);
  };
  await write("dump.ndjson", ["ledger", "dump"]);
  if (views) await write("views.ndjson", ["ls", "--json", "--limit", "1000"]);
  fleet.write("effects.ndjson", fleet.effects());
  fleet.write("expected.ndjson", [...fleet.submitted.keys()].map((sessionId) => JSON.stringify({ kind: "session", sessionId, ends: "done", keys: keysOf(fleet, sessionId) })).join("\n"));
  const given = ["--dump", "dump.ndjson", "--effects", "effects.ndjson", "--expected", "expected.ndjson", ...(views ? ["--views", "views.ndjson"] : [])];
  const { out, err } = await fleet.run("audit", ...given, "--json");
  if (out === "") throw new Error(`the audit said nothing: ${err}`);
  return JSON.parse(out) as Report;
}
/** The keys that must have been applied, exactly once each: one a version. */
function keysOf(fleet: Fleet, id: string): string[] {
  return [...new Set(fleet.server.target.rows(id).map(({ key }) => key))];
}

/** What each session was to do against what the target did, by the target's own log; empty where it is the same. */
export function miscounted(fleet: Fleet): string[] {
  const applied = Map.groupBy(fleet.server.target.rows().filter(({ kind }) => kind === "application"), ({ session }) => session);
  return [...fleet.submitted].flatMap(([id, { door = "none", iterations = 1 }]) => {
    const expected = door === "none" ? 0 : iterations;
    const found = applied.get(id) ?? [];
    const keys = new Set(found.map(({ key }) => key)).size;
    return found.length === expected && keys === expected ? [] : [`${id}: ${found.length} applications of ${keys} keys, ${expected} were wanted`];
  });
}
