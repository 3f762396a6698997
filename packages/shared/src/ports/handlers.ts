import type { Digest } from "../core/brand.ts";
import type { CheckTask, CycleEnd, LookAnswer, MakerTask, ToolAnswer, ToolCall, ToolSettings, CheckRun } from "../core/effects/handling.ts";

/** What a running maker or check is bound to: it is told to stop through `signal`, and `live` gets what it prints. */
export interface Running {
  readonly signal: AbortSignal;
  readonly live?: ((chunk: Uint8Array) => void) | undefined;
}
export interface Maker {
  readonly name: string;
  /** `name@sha256:…`: the principal that its records name. */
  readonly principal: string;
  readonly effects: "workspace" | "external";
  /** Longest run, in seconds. */
  readonly timeoutSeconds: number;
  run(task: MakerTask, running: Running): Promise<CycleEnd>;
}
export interface Check {
  readonly name: string;
  readonly principal: string;
  readonly timeoutSeconds: number;
  run(task: CheckTask, running: Running): Promise<CheckRun>;
  /** Digest over the definition and the files it pins, and the names of what is pinned, as a person reads them. */
  pin(): Promise<{ readonly digest: Digest; readonly pinned: readonly string[] }>;
  /** Revision of the workspace that the check looks at; null where it has none, or one that is too large to digest. */
  revision(): Promise<string | null>;
}
export interface Tool extends ToolSettings {
  /** `signal` stops it; left out, only its own time does: an effect that is under way is not broken off. */
  call(call: ToolCall, signal?: AbortSignal): Promise<ToolAnswer>;
  /** Asks the target what became of a key; `unknown` where the tool has no look-up. */
  look(call: ToolCall, signal?: AbortSignal): Promise<LookAnswer>;
}
/** The operator's registry. Text of a goal names handlers; it never becomes a command. */
export interface Handlers {
  maker(name: string): Maker | null;
  check(name: string): Check | null;
  tool(name: string): Tool | null;
  toolNames(): readonly string[];
}
