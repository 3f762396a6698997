/** The acts of a person, as records without their envelope. */
import type { Draft } from "@loopledger/shared/runtime";

type ActType = "cancel_requested" | "pause_requested" | "resumed" | "guidance" | "budget_raised" | "checkpoint_requested" | "approval_decided" | "reconciled";
export type ActDraft = { readonly [T in ActType]: Pick<Extract<Draft, { type: T }>, "type" | "data"> }[ActType];
