import type { LookAnswer, ToolAnswer, ToolCall } from "@loopledger/shared/core/effects/handling";
import { cutText, repairJson, repairText } from "@loopledger/shared/core/json";
import { z } from "zod";
import { json } from "@loopledger/shared/core/events/fields";
import type { LookFunction, ToolFunction } from "./functions.ts";
import { messageOf } from "./maker.ts";
import { waitOf } from "../results/waiting.ts";
import { runFunction } from "./run.ts";
import { asJson } from "./task.ts";

interface Limits {
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** Told to stop before the call: nothing was sent, so nothing happened. */
export const notStarted: ToolAnswer = { kind: "failed", class: "transient", result: { error: "told to stop before the call began" } };

/** A tool that is a function: what it returns is confirmed; what it throws is lost, unless the error says `didNotHappen: true`. */
export async function callFnTool(tool: ToolFunction, call: ToolCall, limits: Limits): Promise<ToolAnswer> {
  if (limits.signal.aborted) return notStarted;
  const settled = await runFunction((told) => tool(call.args, contextOf(call, told.signal)), { ...limits, keepLate: true });
  switch (settled.kind) {
    case "returned":
      try {
        return { kind: "confirmed", result: repairJson(asJson(settled.value) ?? null) };
      } catch (error) {
        return { kind: "confirmed", result: { unreadable: cutText(repairText(messageOf(error)), 1024) } };
      }
    case "threw":
      return thrown(settled.error);
    case "timeout":
      return { kind: "lost", why: `the tool did not end within ${limits.timeoutSeconds} s` };
    case "stopped":
      return { kind: "lost", why: "told to stop while the call ran" };
    default:
      return settled satisfies never;
  }
}

function thrown(error: unknown): ToolAnswer {
  const { didNotHappen, transient, retryAfterSeconds } = (error ?? {}) as { didNotHappen?: unknown; transient?: unknown; retryAfterSeconds?: unknown };
  const message = cutText(repairText(messageOf(error)), 4096);
  if (didNotHappen !== true) return { kind: "lost", why: message };
  const wait = waitOf(retryAfterSeconds);
  return {
    kind: "failed", class: transient === true || wait !== undefined ? "transient" : "deterministic", result: { error: message },
    ...(wait === undefined ? {} : { retryAfterSeconds: wait }),
  };
}

const lookResult = z.object({ status: z.enum(["happened", "did_not_happen", "pending", "unknown"]), result: json.optional(), evidence: json.optional() });

/** Maps what a look-up says; anything else is `unknown`, never `did_not_happen`. */
export function lookAnswer(value: unknown): LookAnswer {
  const parsed = lookResult.safeParse(value);
  if (!parsed.success) return { status: "unknown", evidence: { why: "the look-up's answer does not fit { status, result? }" } };
  const { status, result } = parsed.data;
  const evidence = parsed.data.evidence ?? { status };
  return status === "happened" ? { status, result: result ?? null, evidence } : { status, evidence };
}

export async function lookByFn(look: LookFunction, call: ToolCall, limits: Limits): Promise<LookAnswer> {
  const settled = await runFunction((told) => look(call.key, { ...contextOf(call, told.signal), args: call.args }), limits);
  if (settled.kind === "returned") return lookAnswer(settled.value);
  const why = settled.kind === "threw" ? messageOf(settled.error) : settled.kind;
  return { status: "unknown", evidence: { why: cutText(repairText(why), 1024) } };
}

function contextOf(call: ToolCall, signal: AbortSignal) {
  return { key: call.key, epoch: call.epoch, sessionId: call.sessionId, signal };
}
