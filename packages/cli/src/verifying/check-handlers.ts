/** The handlers that can run a session's check: the project's, or the commands that a `run` of this host brought. */
import { parseHandlersConfig } from "@loopledger/handlers/config/handlers-config";
import { isOfRun } from "@loopledger/shared/core/session/handlers-named";
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { Handlers } from "@loopledger/shared/ports";
import type { Engine } from "@loopledger/shared/runtime";
import { keptCommands } from "../running/kept-commands.ts";
import { handlersOf } from "@loopledger/composition/project/handlers";
import { loadProject } from "@loopledger/composition/project/project";
import type { CommandContext } from "../context.ts";

export async function checkHandlers(context: CommandContext, engine: Engine, state: SessionState): Promise<Handlers> {
  const kept = isOfRun(state) ? keptCommands(context.dataFolder, state.sessionId) : null;
  if (kept) {
    const project = { folder: kept.folder, path: null, prepare: null, handlers: parseHandlersConfig({}), written: {} };
    return handlersOf(context, project, kept.adHoc)(engine);
  }
  const project = await loadProject({ folder: context.cwd, configPath: context.configPath, dataFolder: context.dataFolder });
  return handlersOf(context, project)(engine);
}
