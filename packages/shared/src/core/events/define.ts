/**
 * What an event is: its type, who may write it, and every version of its data that was ever released.
 * The schema of a (type, version) is frozen; a change is a new version with a pure lift from the one before.
 */
import type { z } from "zod";

/** Who wrote a record. For makers and checkers the id is the handler's name and definition digest: the principal. */
export type ActorKind = "human" | "intake" | "scheduler" | "worker" | "maker" | "checker" | "store";

/** `owner` records carry epoch, owner and n; `derived` ones have a recomputable id; `act` is anything that a person or program asks for. */
export type Authorship = "owner" | "derived" | "act" | "claim" | "submission" | "store";

export interface EventDefinition<T extends string, S extends z.ZodType> {
  readonly type: T;
  readonly authorship: readonly Authorship[];
  readonly writers: readonly ActorKind[];
  /** Oldest first; index + 1 is the typeVersion. */
  readonly versions: readonly [...z.ZodType[], S];
  /** `lifts[i]` turns data of version i + 1 into version i + 2. */
  readonly lifts: readonly ((older: never) => unknown)[];
}

export function defineEvent<const T extends string, S extends z.ZodType>(
  type: T, by: { authorship: readonly Authorship[]; writers: readonly ActorKind[] }, schema: S,
): EventDefinition<T, S> {
  return { type, ...by, versions: [schema], lifts: [] };
}
