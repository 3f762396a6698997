/** Tells the records of sessions as they are made, with what is going on at the moment. */
import { cutText } from "@loopledger/shared/core/json";
import { budgetOf } from "@loopledger/shared/core/budget/budget";
import type { SessionId } from "@loopledger/shared/core/brand";
import { type SessionState, holderOf } from "@loopledger/shared/core/session/state";
import { standingOf } from "@loopledger/shared/core/session/status";
import type { Positions } from "@loopledger/shared/ports";
import type { Change, Folds } from "@loopledger/shared/runtime";
import type { Live } from "@loopledger/composition/crew/roles";
import type { Printer } from "../printing.ts";
import { fitting, makeScreen } from "./screen.ts";
import { type Told, oneLine, seconds, tell, tellRefused } from "./telling.ts";

export interface StoryOptions {
  readonly stream: NodeJS.WriteStream;
  readonly paint: Printer["paint"];
  readonly redraws: boolean;
  /** Records before these positions are history and are not told. */
  readonly from: Positions;
  /** Whether a session's lines name it: for a process that carries several. */
  readonly names: (sessionId: SessionId) => boolean;
  readonly nowMs: () => number;
}
export interface Story {
  /** Tells what happens to these folds from now on. */
  listen(folds: Folds): () => void;
  readonly live: Live;
  line(text: string): void;
  close(): void;
}

export function makeStory(options: StoryOptions): Story {
  const { paint, nowMs } = options;
  const active = new Map<SessionId, SessionState>();
  let printed = "";
  const screen = makeScreen({ stream: options.stream, redraws: options.redraws, now: () => [...active.values()].map((state) => nowText(state, { nowMs: nowMs(), printed })).join("   ") });
  const onChange = ({ sessionId, state, record, verdict, entry }: Change): void => {
    if (state.end && !state.statusOwed) active.delete(sessionId);
    else active.set(sessionId, state);
    if (record?.type === "check") printed = "";
    if (!record || entry.offset < (options.from.get(entry.partition) ?? 0)) return;
    const told = verdict.kind === "accepted" ? tell(record) : verdict.kind === "void" ? tellRefused(record, verdict.reason) : null;
    if (!told) return;
    const seq = verdict.kind === "accepted" ? state.seq : null;
    screen.line(lineOf(told, { seq, sessionId: options.names(sessionId) ? sessionId : null, paint, columns: options.redraws ? options.stream.columns : undefined }));
  };
  return {
    listen: (folds) => folds.listen(onChange, "story"),
    live: (_sessionId, source, chunk) => {
      // What a check prints stands in its evidence and in `logs`; while it runs its last line is enough.
      if (source === "maker") screen.piece(chunk, paint("dim", "      │ "));
      else printed = lastLine(chunk) ?? printed;
    },
    line: (text) => screen.line(text),
    close: () => screen.close(),
  };
}

/** For who wants no story. */
export const quietStory: Story = { listen: () => () => undefined, live: () => undefined, line: () => undefined, close: () => undefined };

interface LineOptions {
  readonly seq: number | null;
  readonly sessionId: SessionId | null;
  readonly paint: Printer["paint"];
  /** The terminal's width; undefined = nothing is cut. */
  readonly columns: number | undefined;
}
export function lineOf({ mark, style, what, text }: Told, { seq, sessionId, paint, columns }: LineOptions): string {
  const number = paint("dim", String(seq ?? "").padStart(5));
  const name = sessionId === null ? "" : `${paint("dim", sessionId)} `;
  const line = `${number} ${paint(style, `${mark} ${what.padEnd(8)}`)} ${name}${style === "dim" ? paint("dim", text) : text}`;
  return columns === undefined ? line : fitting(line, columns);
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 120;

/** What a session is doing now: the step, the iteration, how long, and what of its budget is left. */
function nowText(state: SessionState, { nowMs, printed }: { readonly nowMs: number; readonly printed: string }): string {
  const { disposition, reason } = standingOf(state);
  const since = state.open?.since ?? state.at ?? nowMs;
  const frame = frames[Math.floor(nowMs / frameMs) % frames.length] ?? "";
  const doing = disposition === "waiting" ? `waits: ${reason ?? ""}` : state.open ? `${state.open.cycle === "build" ? "maker at work" : "check runs"}${holderOf(state) ? "" : " (unclaimed)"}` : "next step";
  const iteration = state.open && state.open.iteration > 0 ? ` · iteration ${state.open.iteration}` : "";
  const about = state.open?.cycle === "review" ? printed : oneLine(state.open?.task ?? "");
  const task = about === "" ? "" : ` · ${cutText(about, 60)}`;
  return `${frame} ${doing}${iteration} · ${seconds(Math.max(0, nowMs - since) / 1000)} · ${budgetLeft(state)}${task}`;
}
function lastLine(chunk: Uint8Array): string | null {
  const lines = new TextDecoder().decode(chunk).split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.at(-1) ?? null;
}
function budgetLeft(state: SessionState): string {
  const { iterations, costUsd, tokens } = budgetOf(state);
  const parts = [
    ...(iterations.remaining === null ? [] : [`${iterations.remaining} iterations left`]),
    ...(costUsd.remaining === null ? [] : [`$${costUsd.remaining.toFixed(2)} left`]),
    ...(tokens.remaining === null ? [] : [`${tokens.remaining} tokens left`]),
  ];
  return parts.join(", ") || "no bounds";
}
