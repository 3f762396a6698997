/** What a goal or a config amounts to, before anything is started. */
import { dirname, resolve } from "node:path";
import { boundsOf, type Goal } from "@loopledger/shared/core/events/goal";
import { planOf } from "@loopledger/shared/core/session/plan";
import { goalDigest } from "@loopledger/shared/core/session/rules/submission";
import type { Handlers } from "@loopledger/shared/ports";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { idOfGoal, silentLog } from "@loopledger/shared/runtime";
import { handlersOf } from "@loopledger/composition/project/handlers";
import { type Project, findConfig, loadProject } from "@loopledger/composition/project/project";
import type { CommandContext } from "../context.ts";
import { missingHandlers } from "@loopledger/composition/project/known-handlers";
import { CliError } from "../errors.ts";
import { readGoalFile } from "../goal-file.ts";
import { counted, oneLine } from "../story/telling.ts";

export interface Validated {
  readonly document: { readonly ok: boolean; readonly kind: "goal" | "config" } & Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}
interface Pinned { readonly check: string; readonly digest: string; readonly pinned: readonly string[] }

export async function validateGoal(context: CommandContext, file: string): Promise<Validated> {
  const goal = await readGoalFile(file);
  const configPath = context.configPath ?? nearestConfig(file === "-" ? context.cwd : dirname(resolve(context.cwd, file))) ?? findConfig(context.cwd);
  const project = configPath === null ? null : await loadProject({ folder: dirname(configPath), configPath, dataFolder: context.dataFolder });
  const faults = project ? missingHandlers(goal, project) : [];
  if (faults.length > 0) throw new CliError("invalid_goal", `${file} names handlers that are not there.`, { faults, next: "Add them to the config, or mend the names." });
  const ids = createSystemIds();
  const bounds = boundsOf(goal);
  const checks = [...new Set(planOf(goal).flatMap((node) => node.check ?? []))];
  const pinned = project ? await pinsOf(await handlersFor(context, project), checks) : null;
  const asked = asksOf(goal, project);
  const document = { ok: true, kind: "goal" as const, id: idOfGoal(goal, { ids }), digest: goalDigest(goal, ids), leaves: planOf(goal).length, bounds, pinned, asked };
  return { document, lines: goalLines(goal, { ...document, configPath: project?.path ?? null }) };
}

/** A goal lies in its project: the config of the nearest folder above it. */
function nearestConfig(from: string): string | null {
  const found = findConfig(from);
  return found !== null || dirname(from) === from ? found : nearestConfig(dirname(from));
}

interface GoalFacts { readonly id: string; readonly leaves: number; readonly bounds: object; readonly pinned: readonly Pinned[] | null; readonly asked: readonly string[]; readonly configPath: string | null }

function goalLines(goal: Goal, { id, leaves, bounds, pinned, asked, configPath }: GoalFacts): string[] {
  return [
    `right: a goal with ${leaves === 1 ? "one leaf" : counted(leaves, "leaf", "leaves")}, as session ${id}`,
    `  goal     ${oneLine(goal.goal)}`,
    `  bounded  ${Object.entries(bounds).map(([name, value]) => `${name} ${value === null ? "none" : JSON.stringify(value)}`).join(", ")}`,
    ...(pinned === null
      ? ["  pinned   told where there is a config: none is in this folder or above the goal"]
      : pinned.map((one) => `  pinned   ${one.check}: ${one.pinned.length === 0 ? "its definition" : `its definition and ${one.pinned.join(", ")}`}`)),
    ...(asked.length === 0 ? ["  asked    nobody"] : asked.map((one) => `  asked    ${one}`)),
    ...(configPath === null ? [] : [`  config   ${configPath}`]),
  ];
}

export async function validateConfig(context: CommandContext, path: string): Promise<Validated> {
  const project = await loadProject({ folder: context.cwd, configPath: path, dataFolder: context.dataFolder });
  const { makers, checks, tools } = project.handlers;
  const pinned = await pinsOf(await handlersFor(context, project), Object.keys(checks));
  const effects = Object.entries(tools).map(([name, tool]) => ({ tool: name, contract: tool.contract, approval: tool.approval ?? null }));
  const document = { ok: true, kind: "config" as const, makers: Object.keys(makers), checks: Object.keys(checks), tools: effects, pinned };
  const lines = [
    `right: ${counted(Object.keys(makers).length, "maker")}, ${counted(Object.keys(checks).length, "check")}, ${counted(effects.length, "tool")}`,
    ...Object.entries(makers).map(([name, maker]) => `  maker    ${name}: ${maker.kind}`),
    ...pinned.map((one) => `  check    ${one.check}: pins ${one.pinned.length === 0 ? "its definition" : `its definition and ${one.pinned.join(", ")}`}`),
    ...effects.map(({ tool, contract, approval }) => `  tool     ${tool}: ${contract}${approval ? ", asked about before each call" : ""}`),
  ];
  return { document, lines };
}

async function handlersFor(context: CommandContext, project: Project): Promise<Handlers> {
  const { createMemoryBlobs } = await import("@loopledger/shared/memory");
  return handlersOf(context, project)({ blobs: createMemoryBlobs(), clock: createSystemClock(), log: silentLog });
}

async function pinsOf(handlers: Handlers, names: readonly string[]): Promise<Pinned[]> {
  const pins: Pinned[] = [];
  for (const name of names) {
    const check = handlers.check(name);
    if (check) pins.push({ check: name, ...(await check.pin()) });
  }
  return pins;
}

/** When a person will be asked, in words. */
function asksOf(goal: Goal, project: Project | null): string[] {
  const declared = (goal.policy?.approvals ?? []).map((trigger) => {
    const expires = trigger.expiresSeconds === undefined ? "" : `, for at most ${trigger.expiresSeconds} s`;
    if ("before" in trigger) return `before each call of ${trigger.before}${expires}`;
    if ("everyIterations" in trigger) return `after every ${counted(trigger.everyIterations, "iteration")}${expires}`;
    if ("onFailure" in trigger) return `on ${trigger.onFailure === "any" ? "any failure" : "a major failure"}${expires}`;
    return "costUsd" in trigger ? `when $${trigger.costUsd} are spent${expires}` : `when the plan is complete${expires}`;
  });
  const tools = Object.entries(project?.handlers.tools ?? {}).filter(([, tool]) => tool.approval === "before").map(([name]) => `before each call of ${name}`);
  return [...new Set([...declared, ...tools])];
}
