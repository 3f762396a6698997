/**
 * Effects of the owner: intent, read-back, call, outcome; and the settling of what nobody saw the end of.
 *
 * E1. The order is always: approval, if owed → intent appended → read back accepted → effect → outcome.
 * E2. A call starts only before a deadline on this process's own monotonic clock, counted from before the append that allows it.
 * E3. A lost answer: `none` and `idempotent` are called again under the same key; `lookup` is looked at under the next epoch, and
 *     called again under the same key where it did not happen; a call that was put off is made again when its time comes;
 *     `unsafe` is never called again: the owner's next claim makes it unknown, and a person settles it.
 * E4. `did_not_happen` is recorded only after a look that fenced the target at this epoch, or after the call window is over.
 */
import { messageOf } from "@loopledger/shared/core/errors";
import type { ToolAnswer } from "@loopledger/shared/core/effects/handling";
import type { Epoch } from "@loopledger/shared/core/brand";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import type { DataOf } from "@loopledger/shared/core/events/index";
import type { Json } from "@loopledger/shared/core/json";
import { unsettledBefore } from "@loopledger/shared/core/session/endings";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { windowOverAt } from "@loopledger/shared/core/session/rules/effects";
import type { Effect } from "@loopledger/shared/core/session/state";
import type { Tool } from "@loopledger/shared/ports";
import { type PutOff, type Waiting, putOff, sitsOut } from "./putting-off.ts";
import { type Engine, StaleOwner, type Tenure, fit, nextChange } from "@loopledger/shared/runtime";

/** `looked`: not the target's answer to the call says so, but a later look. */
export type Settled =
  | { readonly kind: "confirmed"; readonly result: Json; readonly looked?: true }
  /** `by`: the target did nothing and may be asked again. */
  | { readonly kind: "failed"; readonly result: Json; readonly looked?: true; readonly by?: PutOff }
  /** `put_off`: a retry is armed, for longer than a maker is kept waiting. */
  | { readonly kind: "put_off" }
  | { readonly kind: "unknown" };
type Intent = DataOf<"tool_requested">;

/** How often a lost call is repeated or a silent target is looked at before a person has to settle it. */
const triesMax = 5;
/** How often a call is made that was lost each time and never happened. */
const madeMax = 3;
/** Longest time that a target may ask for before the call after a lost one, in ms: beyond it a person says what became of that one. */
const askedMaxMs = 60_000;

export class Effects {
  readonly #engine: Engine;
  readonly #tenure: Tenure;

  readonly #waiting: Waiting;

  constructor(engine: Engine, tenure: Tenure, waiting: Waiting = sitsOut) {
    this.#engine = engine;
    this.#tenure = tenure;
    this.#waiting = waiting;
  }

  /** Makes an effect that the ledger does not know yet, or knows as failed. One that was lost and, by a look, did not happen is made again under its key. */
  async make(tool: Tool, intent: Intent, actor: Actor): Promise<Settled> {
    for (let made = 1; ; ) {
      const settled = await this.#makeOnce(tool, intent, actor);
      if (settled.kind !== "failed") return settled;
      if (settled.by) {
        const then = await putOff(this.#engine, this.#tenure, { tool, by: settled.by, actor, waiting: this.#waiting });
        if (then === "leave") return { kind: "put_off" };
        if (then === "used_up") return settled;
      } else {
        if (!settled.looked || made++ >= madeMax) return settled;
        await this.#pause(250 * 2 ** made);
      }
    }
  }
  async #makeOnce(tool: Tool, intent: Intent, actor: Actor): Promise<Settled> {
    const from = this.#engine.clock.monotonic();
    await this.#tenure.append([{ type: "tool_requested", data: intent, actor }]);
    await this.#engine.failpoints.pass("worker.after_intent_readback");
    const answer = await this.#call(tool, { key: intent.key, args: intent.args, from });
    await this.#engine.failpoints.pass("worker.after_effect");
    return this.#conclude(tool, intent.key, { answer, actor });
  }

  /** Settles an effect of an earlier epoch of this session. */
  async settle(effect: Effect, actor: Actor): Promise<Settled> {
    const tool = this.#engine.handlers.tool(effect.tool);
    if (!tool) return this.#giveUp(`tool ${effect.tool} is not registered here`);
    if (effect.contract === "idempotent") {
      const answer = await this.#call(tool, { key: effect.key, args: effect.args, from: this.#tenure.since });
      return this.#conclude(tool, effect.key, { answer, actor });
    }
    return this.#look(tool, effect);
  }

  async #call(tool: Tool, call: { readonly key: string; readonly args: Json; readonly from: number }): Promise<ToolAnswer> {
    const late = this.#engine.clock.monotonic() - call.from >= deadlineMs(tool);
    if (late || !this.#tenure.holds()) return { kind: "lost", why: "the call window was over before the call could start" };
    try {
      return await tool.call({ sessionId: this.#tenure.sessionId, epoch: this.#tenure.epoch, key: call.key, args: call.args });
    } catch (error) {
      return { kind: "lost", why: messageOf(error) };
    }
  }

  async #conclude(tool: Tool, key: string, { answer, actor }: { readonly answer: ToolAnswer; readonly actor: Actor }): Promise<Settled> {
    switch (answer.kind) {
      case "confirmed": return this.#record(key, { kind: "confirmed", result: answer.result }, actor);
      case "failed": {
        const passing = answer.class === "transient" ? { why: whyOf(answer.result), retryAfterSeconds: answer.retryAfterSeconds } : null;
        // That this call was put off says nothing of the one before it, whose answer was lost.
        if (passing && this.#isRepeat(key)) return this.#lost(tool, key, { why: passing.why, actor, afterSeconds: passing.retryAfterSeconds });
        await this.#untilConcluding(key);
        return this.#record(key, { kind: "failed", result: answer.result, ...(passing && { by: passing }) }, actor);
      }
      case "refused": throw new StaleOwner(this.#tenure.sessionId, "stale_epoch");
      case "lost": return this.#lost(tool, key, { why: answer.why, actor });
    }
  }
  #isRepeat(key: string): boolean {
    return (lookUp(this.#tenure.state.effects, key)?.epoch ?? this.#tenure.epoch) < this.#tenure.epoch;
  }
  /** Under a later epoch "failed" speaks of the earlier call too: it counts once no call can be under way. */
  async #untilConcluding(key: string): Promise<void> {
    const effect = lookUp(this.#tenure.state.effects, key);
    if (effect && effect.epoch < this.#tenure.epoch) await this.#untilWindowOver(effect);
  }
  async #record(key: string, settled: Extract<Settled, { result: Json }>, actor: Actor): Promise<Settled> {
    const result = await fit(this.#engine, this.#tenure.sessionId, settled.result);
    await this.#tenure.append([{ type: "tool_result", data: { key, outcome: settled.kind, result }, actor }]);
    return settled;
  }

  async #lost(tool: Tool, key: string, at: { readonly why: string; readonly actor: Actor; readonly afterSeconds?: number | undefined }): Promise<Settled> {
    this.#engine.log.warn({ session: this.#tenure.sessionId, epoch: this.#tenure.epoch, tool: tool.name, why: at.why }, "answer lost");
    // It only reads: whatever became of this call, it is made again.
    if (tool.contract === "none") return this.#record(key, { kind: "failed", result: { error: at.why }, by: { why: at.why } }, at.actor);
    if (tool.contract === "idempotent") return this.#again(tool, key, at);
    await this.#tenure.reclaim();
    const effect = lookUp(this.#tenure.state.effects, key);
    return tool.contract === "unsafe" || !effect ? { kind: "unknown" } : this.#look(tool, effect);
  }

  /** The same call under the same key; each further try under a claim of its own, so that its deadline counts from there. */
  async #again(tool: Tool, key: string, { actor, afterSeconds = 0 }: { readonly actor: Actor; readonly afterSeconds?: number | undefined }): Promise<Settled> {
    const effect = lookUp(this.#tenure.state.effects, key);
    let askedMs = afterSeconds * 1000;
    for (let attempt = 1; effect && attempt < triesMax; attempt++) {
      if (askedMs > askedMaxMs) return this.#giveUp(`${tool.name} asks for ${askedMs / 1000} s before it says what became of ${key}`);
      await this.#pauseFor(Math.max(250 * 2 ** attempt, askedMs));
      await this.#tenure.reclaim();
      const answer = await this.#call(tool, { key, args: effect.args, from: this.#tenure.since });
      const putOffAgain = answer.kind === "failed" && answer.class === "transient";
      if (answer.kind !== "lost" && !putOffAgain) return this.#conclude(tool, key, { answer, actor });
      askedMs = putOffAgain ? (answer.retryAfterSeconds ?? 0) * 1000 : 0;
    }
    return this.#giveUp(`no answer for ${key} in ${triesMax} tries`);
  }

  async #look(tool: Tool, effect: Effect): Promise<Settled> {
    for (let attempt = 1; attempt <= triesMax; ) {
      if (!this.#tenure.holds()) throw new StaleOwner(this.#tenure.sessionId, "stale_epoch");
      const { epoch } = this.#tenure;
      const asked = { sessionId: this.#tenure.sessionId, epoch, key: effect.key, args: effect.args };
      const answer = await tool.look(asked).catch((error: unknown) => ({ status: "unknown" as const, evidence: String(error) }));
      if (answer.status === "happened") return this.#reconcile(effect, { epoch, outcome: "happened", evidence: answer.evidence, result: answer.result });
      // Another call of this run was lost meanwhile: this look fenced the epoch before.
      if (epoch !== this.#tenure.epoch) continue;
      if (answer.status === "did_not_happen") {
        if (effect.fences || this.#windowOver(effect)) return this.#reconcile(effect, { epoch, outcome: "did_not_happen", evidence: answer.evidence, result: null });
        await this.#untilWindowOver(effect);
        continue;
      }
      if (answer.status === "unknown") attempt++;
      await this.#pause(250 * 2 ** attempt);
    }
    return this.#giveUp(`looking at ${effect.key} gave no answer in ${triesMax} tries`);
  }
  async #reconcile(effect: Effect, look: { readonly epoch: Epoch; readonly outcome: "happened" | "did_not_happen"; readonly evidence: Json; readonly result: Json }): Promise<Settled> {
    const result = await fit(this.#engine, this.#tenure.sessionId, look.result);
    const data = {
      intent: effect.intent, key: effect.key, epoch: look.epoch, outcome: look.outcome, evidence: look.evidence, by: `worker:${this.#engine.ownerId}`, result,
    };
    await this.#tenure.append([{ type: "reconciled", data, actor: { kind: "worker", id: this.#engine.ownerId } }]);
    return { kind: look.outcome === "happened" ? "confirmed" : "failed", result: look.result, looked: true };
  }

  /** Looking stayed without an answer: the session fails closed until a person settles it. Under an epoch higher than the intent's. */
  async #giveUp(why: string): Promise<Settled> {
    const { state } = this.#tenure;
    if (unsettledBefore(state).length === 0) await this.#tenure.reclaim();
    if (this.#tenure.state.end) return { kind: "unknown" };
    const data = { disposition: "failed", reason: "incomplete_tool_turn", error: why } as const;
    await this.#tenure.append([{ type: "status", data, actor: { kind: "worker", id: this.#engine.ownerId } }], { follow: true });
    return { kind: "unknown" };
  }

  #windowOver(effect: Effect): boolean {
    return this.#engine.logClock.now() > windowOverAt(effect, this.#tenure.state.lastClaimAt);
  }
  async #untilWindowOver(effect: Effect): Promise<void> {
    while (!this.#windowOver(effect)) {
      await this.#pause(windowOverAt(effect, this.#tenure.state.lastClaimAt) - this.#engine.logClock.now() + 5);
    }
  }
  /** At least so long, whatever changes meanwhile. */
  async #pauseFor(ms: number): Promise<void> {
    const until = this.#engine.clock.monotonic() + ms;
    for (let left = ms; left > 0; left = until - this.#engine.clock.monotonic()) await this.#pause(left);
  }
  async #pause(ms: number): Promise<void> {
    await nextChange(this.#engine, this.#tenure.sessionId, { maxMs: ms });
    if (!this.#tenure.holds()) throw new StaleOwner(this.#tenure.sessionId, "dropped");
  }
}

function whyOf(result: Json): string {
  return typeof result === "string" ? result : JSON.stringify(result);
}

/** From before the append that allows a call to its latest start, in ms; what is left of the window is the call's own time and a tenth as margin. */
function deadlineMs(tool: Pick<Tool, "callWindowSeconds" | "timeoutSeconds">): number {
  return (tool.callWindowSeconds * 0.9 - Math.min(tool.timeoutSeconds, tool.callWindowSeconds / 2)) * 1000;
}
