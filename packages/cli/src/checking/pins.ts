/**
 * Sessions that are alive in this data folder and began with another check than the config here has under that name: the next process
 * with this config stops them, and a person has to decide.
 */
import type { Digest, SessionId } from "@loopledger/shared/core/brand";
import { hasLedger } from "@loopledger/composition/ports/data-folder";
import { handlersOf } from "@loopledger/composition/project/handlers";
import { findConfig, loadProject } from "@loopledger/composition/project/project";
import type { CommandContext } from "../context.ts";
import { openSource } from "../reading/source.ts";

export interface OtherPin {
  readonly sessionId: string;
  readonly check: string;
}
/** Most sessions that are looked at, newest first. */
const sessionsMax = 500;

export async function otherPins(context: CommandContext): Promise<readonly OtherPin[]> {
  if (!hasLedger(context.dataFolder) || (context.configPath === null && findConfig(context.cwd) === null)) return [];
  const project = await loadProject({ folder: context.cwd, configPath: context.configPath, dataFolder: context.dataFolder });
  const pinned = await pinsOfTheAlive(context);
  if (pinned.length === 0) return [];
  const opened = await context.openEngine({ reads: true, still: true });
  try {
    const handlers = await handlersOf(context, project)(opened.engine);
    const names = [...new Set(pinned.map(({ check }) => check))];
    const here = new Map(await Promise.all(names.map(async (name) => [name, (await handlers.check(name)?.pin())?.digest] as const)));
    return pinned.filter(({ check, digest }) => here.get(check) !== undefined && here.get(check) !== digest);
  } finally {
    await opened.close();
  }
}

/** What each session that has not ended pinned at its first check. */
async function pinsOfTheAlive(context: CommandContext): Promise<readonly (OtherPin & { readonly digest: Digest })[]> {
  const source = await openSource(context);
  try {
    const [{ LocalReader }, { foldAll }] = await Promise.all([import("../reading/local-reader.ts"), import("../reading/folding.ts")]);
    const found: (OtherPin & { readonly digest: Digest })[] = [];
    for await (const { view } of new LocalReader(source, context.where).list({ limit: sessionsMax })) {
      if (view.disposition !== "running" && view.disposition !== "waiting") continue;
      const state = foldAll(view.sessionId as SessionId, await source.ledger.readSession(view.sessionId as SessionId), source.ids);
      for (const [check, { digest }] of Object.entries(state.pins)) found.push({ sessionId: view.sessionId, check, digest });
    }
    return found;
  } finally {
    await source.close();
  }
}
