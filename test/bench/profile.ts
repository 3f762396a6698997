/**
 * Where the time of a run goes: V8's CPU profile, each sample put down to what its function belongs to. Samples are taken by the
 * wall clock, so that what waits inside a call, as a flush does, counts for that call.
 *
 * V8 shows no frame for JSON's own functions: while a profile is taken they are called through a function that has one.
 */
import { Session } from "node:inspector/promises";
import type { Profiler } from "node:inspector";
import type { Figure } from "./figures.ts";

const samplingUs = 200;

type Share = "fold" | "validation" | "JSON" | "digest" | "SQLite" | "commit and flush" | "roles" | "handlers" | "GC" | "Node" | "other" | "idle" | "profiler";

/** The first that fits counts. */
const rules: readonly { readonly share: Share; readonly fits: (name: string, url: string) => boolean }[] = [
  { share: "GC", fits: (name) => name === "(garbage collector)" },
  { share: "profiler", fits: (_, url) => url === "node:inspector" || url === "node:inspector/promises" },
  { share: "idle", fits: (name) => name === "(idle)" },
  { share: "JSON", fits: (name, url) => url.includes("/test/bench/profile") || name === "canonicalJson" || url.endsWith("/core/json.ts") },
  { share: "commit and flush", fits: (name, url) => url.endsWith("/sqlite/commit-writer.ts") && name === "commitWhole" },
  { share: "SQLite", fits: (_, url) => url.includes("/adapters/sqlite/") },
  { share: "validation", fits: (_, url) => url.includes("/zod/") || url.includes("/core/events/") },
  { share: "digest", fits: (name, url) => url.startsWith("node:internal/crypto") || url === "node:crypto" || (url.endsWith("/system/ids.ts") && name !== "random") },
  { share: "fold", fits: (_, url) => url.includes("/shared/src/core/") },
  { share: "handlers", fits: (_, url) => url.includes("/packages/handlers/") || url.includes("/test/bench/") },
  { share: "roles", fits: (_, url) => url.includes("/shared/src/") || url.includes("/services/") },
  { share: "Node", fits: (_, url) => url.startsWith("node:") },
];

function shareOf(name: string, url: string): Share | null {
  return rules.find((rule) => rule.fits(name, url))?.share ?? null;
}

/** A frame of no file is a native function's: it belongs to who called it. */
function sharesOf(nodes: readonly Profiler.ProfileNode[]): Map<number, Share> {
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id] as const)));
  const known = new Map(nodes.map((node) => [node.id, shareOf(node.callFrame.functionName, node.callFrame.url)]));
  const share = (id: number | undefined): Share => (id === undefined ? "other" : (known.get(id) ?? share(parents.get(id))));
  return new Map(nodes.map((node) => [node.id, share(node.id)]));
}

/** JSON's functions with a frame of their own; gives back what undoes it. */
function frameJson(): () => void {
  const { parse, stringify } = JSON;
  JSON.parse = function framedParse(...given: Parameters<typeof parse>) {
    return parse(...given);
  };
  JSON.stringify = function framedStringify(...given: unknown[]) {
    return stringify(...(given as Parameters<typeof stringify>));
  } as typeof stringify;
  return () => Object.assign(JSON, { parse, stringify });
}

export interface Profiled {
  /** Milliseconds of each share, largest first. */
  readonly shares: ReadonlyMap<Share, number>;
  /** The functions that took most by themselves. */
  readonly functions: readonly { readonly name: string; readonly ms: number }[];
}

/** Runs the work under the profiler. */
export async function profiled(work: () => Promise<void>): Promise<Profiled> {
  const session = new Session();
  session.connect();
  const undo = frameJson();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: samplingUs });
    await session.post("Profiler.start");
    await work();
    return readProfile((await session.post("Profiler.stop")).profile);
  } finally {
    undo();
    session.disconnect();
  }
}

function readProfile({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Profiled {
  const shares = sharesOf(nodes);
  const frames = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const byShare = new Map<Share, number>();
  const byFunction = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const ms = (timeDeltas[index] ?? 0) / 1000;
    const share = shares.get(id) ?? "other";
    if (share === "profiler") continue;
    byShare.set(share, (byShare.get(share) ?? 0) + ms);
    const frame = frames.get(id);
    const name = `${frame?.functionName || "(anonymous)"} ${(frame?.url ?? "").split("/").slice(-3).join("/")}:${(frame?.lineNumber ?? 0) + 1}`;
    byFunction.set(name, (byFunction.get(name) ?? 0) + ms);
  }
  const sorted = <K>(map: ReadonlyMap<K, number>): [K, number][] => [...map].sort((a, b) => b[1] - a[1]);
  return { shares: new Map(sorted(byShare)), functions: sorted(byFunction).map(([name, ms]) => ({ name, ms })) };
}

/** The shares as rows: microseconds for each iteration. */
export function shareFigures(part: string, { shares }: Profiled, iterations: number): Figure[] {
  return [...shares].map(([share, ms]) => ({
    part, name: share, value: (ms * 1000) / iterations, unit: "us", what: "of an iteration's time, by CPU profile in a run of its own",
  }));
}
