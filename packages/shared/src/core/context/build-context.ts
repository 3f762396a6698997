/**
 * The context of a model step: what the fold knows, newest first within a token budget, never over it.
 * What must not be lost (the goal and the task) comes first; what is left out is said.
 */
import { type Json, cutText } from "../json.ts";
import { own } from "../session/persistent-map.ts";
import type { SessionState } from "../session/state.ts";

export interface Context {
  readonly tokens: number;
  readonly messages: readonly { readonly role: "system" | "user"; readonly content: string }[];
}

/** An upper estimate that holds for every tokenizer in use here: one token for each three UTF-16 units, four for the frame. */
function estimateTokens(text: string): number {
  return (text.length + 2 - ((text.length + 2) % 3)) / 3 + 4;
}

export function buildContext(state: SessionState, tokensMax: number): Context {
  const messages: Context["messages"][number][] = [];
  let tokens = 0;
  for (const content of parts(state)) {
    const room = tokensMax - tokens - 4;
    if (room <= 0) break;
    const fitted = cutText(content, room * 3);
    if (fitted === "") break;
    messages.push({ role: messages.length === 0 ? "system" : "user", content: fitted });
    tokens += estimateTokens(fitted);
  }
  return { tokens, messages };
}

/** Most important first. */
function parts(state: SessionState): string[] {
  const { open, lastCheck, lastBuilt } = state;
  const settled = own(state.work, open?.leaf ?? "")?.settled ?? [];
  const lines: (string | null)[] = [
    `Goal: ${state.submission?.goal.goal ?? ""}`,
    open && `Task (iteration ${open.iteration}, leaf ${open.leaf}): ${open.task}`,
    lastCheck && `Last verdict: ${lastCheck.verdict}. Evidence: ${text(lastCheck.evidence)}`,
    ...[...state.guidance].reverse().map((advice) => `Guidance: ${advice}`),
    ...[...settled].reverse().map((one) => `Done already: ${one.tool} ${text(one.args)} → ${text(one.result)}`),
    lastBuilt && `Last build: ${lastBuilt.summary}`,
  ];
  return lines.filter((line) => line !== null);
}
function text(value: Json): string {
  return JSON.stringify(value);
}
