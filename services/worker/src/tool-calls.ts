/**
 * One run's tool calls: matched with what was settled before, asked about where a person must decide, else made.
 *
 * S1. A call that equals a settled one of this leaf returns the recorded result, in order of occurrence; one more of the same is another call.
 * S2. On a re-run a mutating call that differs from what was settled for that tool is asked about, not made.
 * S3. A tool that needs approval is asked about first; what runs is what was shown. What is done already is asked about by nobody:
 *     neither a call that was made, nor one in whose place a person had another made.
 */
import type { StepAnswer } from "@loopledger/shared/core/effects/handling";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import { type Json, canonicalJson, digestOf } from "@loopledger/shared/core/json";
import { spentToTheLast } from "@loopledger/shared/core/budget/budget";
import { triggersOf } from "@loopledger/shared/core/session/checkpoints";
import { lookUp, values } from "@loopledger/shared/core/session/persistent-map";
import type { DataOf } from "@loopledger/shared/core/events/index";
import type { Effect } from "@loopledger/shared/core/session/state";
import type { Tool } from "@loopledger/shared/ports";
import { type Engine, StaleOwner, Suspended, type Tenure, type ToolDesk, whole } from "@loopledger/shared/runtime";
import { Effects, type Settled } from "./effects.ts";
import { settledOf } from "./input.ts";
import type { Waiting } from "./putting-off.ts";

type Answer = StepAnswer<{ outcome: "confirmed" | "failed"; result: Json }>;
type Intent = DataOf<"tool_requested">;
interface Asked {
  readonly args: Json;
  readonly callerKey?: string | undefined;
  /** The checkpoint that let it through. */
  readonly approval?: string;
}
const no = (status: 404 | 409 | 423 | 424, code: Extract<Answer, { ok: false }>["code"], detail: string): Answer => ({ ok: false, status, code, detail });
const conflict = (key: string): Answer => no(409, "key_conflict", `key ${key} stands for another call: same key, other arguments`);

export class ToolCalls implements ToolDesk {
  readonly #engine: Engine;
  readonly #tenure: Tenure;
  readonly #actor: Actor;
  readonly #effects: Effects;
  /** Keys of settled calls that this run has been given back already, and of those that it makes itself. */
  readonly #given = new Set<string>();
  /** Keys that this run made of a call's content. */
  readonly #spelled = new Set<string>();
  /** Calls that this run is making or is asking about, by key: a second one under the same key gets the same answer. */
  readonly #underWay = new Map<string, { readonly tool: string; readonly argsDigest: string; readonly answer: Promise<Answer> }>();
  #suspended = false;
  #missing: string | null = null;

  constructor(engine: Engine, tenure: Tenure, by: { readonly actor: Actor; readonly waiting?: Waiting }) {
    this.#engine = engine;
    this.#tenure = tenure;
    this.#actor = by.actor;
    this.#effects = new Effects(engine, tenure, by.waiting);
  }
  get suspended(): boolean {
    return this.#suspended;
  }
  get missing(): string | null {
    return this.#missing;
  }

  async call(name: string, args: Json, callerKey?: string): Promise<Answer> {
    const tool = this.#engine.handlers.tool(name);
    if (!tool) return no(404, "unknown_tool", `no tool ${name}; known: ${this.#engine.handlers.toolNames().join(", ") || "none"}`);
    const argsDigest = digestOf(args, this.#engine.ids.sha256);
    const left = settledOf(this.#tenure.state, this.#leaf()).filter((one) => !this.#given.has(one.key));
    const open = left.filter((one) => one.tool === name);
    const same = open.find((one) => one.argsDigest === argsDigest) ?? left.find((one) => this.#standsFor(one.key, { tool: name, argsDigest }));
    if (same) {
      this.#given.add(same.key);
      return this.#recorded(same);
    }
    const ownKey = callerKey ?? tool.key?.(args);
    const reworded = open.length > 0 && (tool.mutates || tool.contract === "unsafe") && (ownKey === undefined || open.some((one) => one.key === ownKey));
    const known = ownKey === undefined || reworded ? null : this.#known({ key: ownKey, tool: name, argsDigest });
    if (known !== null) return known;
    if (spentToTheLast(this.#tenure.state)) return this.#usedUp();
    const action = { tool: name, args, ...(callerKey !== undefined && { key: callerKey }) };
    if (reworded) return this.#ask("repeat_after_takeover", action);
    if (this.#needsApproval(tool)) return this.#once({ key: ownKey, tool: name, argsDigest }, () => this.#ask("before", action));
    return this.#make(tool, this.intentOf(tool, { args, callerKey }));
  }
  /** Nothing is begun twice under one key, and two calls that differ never share one. */
  #once(call: { readonly key: string | undefined; readonly tool: string; readonly argsDigest: string }, begin: () => Promise<Answer>): Promise<Answer> {
    const { key, tool, argsDigest } = call;
    if (key === undefined) return begin();
    const before = this.#underWay.get(key);
    if (before !== undefined) return before.tool === tool && before.argsDigest === argsDigest ? before.answer : Promise.resolve(conflict(key));
    const answer = begin();
    this.#underWay.set(key, { tool, argsDigest, answer });
    return answer.finally(() => this.#underWay.delete(key));
  }

  /** Under this key a person had another call made in place of this one. */
  #standsFor(key: string, proposed: { readonly tool: string; readonly argsDigest: string }): boolean {
    return values(this.#tenure.state.checkpoints).some(({ decision, servedKey, action }) => {
      if (decision !== "MODIFY" || servedKey !== key) return false;
      const { tool, args } = action as { readonly tool?: Json; readonly args?: Json };
      return tool === proposed.tool && digestOf(args ?? null, this.#engine.ids.sha256) === proposed.argsDigest;
    });
  }

  /** The intent of a call, with the key that survives owners, attempts and restarts. */
  intentOf(tool: Tool, call: Asked): Intent {
    const { open, sessionId } = this.#tenure.state;
    if (!open) throw new StaleOwner(sessionId, "dropped");
    const argsDigest = digestOf(call.args, this.#engine.ids.sha256);
    return {
      tool: tool.name, args: call.args, argsDigest, contract: tool.contract, fences: tool.fences,
      callWindowSeconds: tool.callWindowSeconds, mutates: tool.mutates, ...this.#keyed(tool, call, argsDigest),
      dispatch: open.eventId, leaf: open.leaf, iteration: open.iteration,
      ...(call.approval !== undefined && { approval: call.approval }),
    };
  }
  #keyed(tool: Tool, call: Asked, argsDigest: string): Pick<Intent, "key" | "keySource" | "ordinal"> {
    const key = call.callerKey ?? tool.key?.(call.args);
    // A person let another wording through under a key that is taken: it gets a key of its own.
    const taken = call.approval !== undefined && key !== undefined && this.#isOther(lookUp(this.#tenure.state.effects, key), { tool: tool.name, argsDigest });
    if (key === undefined || taken) return this.#spell(tool.name, call.args);
    return { key, keySource: call.callerKey !== undefined ? "caller" : "tool", ordinal: 0 };
  }
  /** The key of a call that brings none: of its content, and of how many of the same were made before it, in this run or in an earlier one. */
  #spell(tool: string, args: Json): Pick<Intent, "key" | "keySource" | "ordinal"> {
    const { open, sessionId, effects } = this.#tenure.state;
    for (let ordinal = 0; ; ordinal++) {
      const parts = [sessionId, open?.leaf ?? "", open?.iteration ?? 0, tool, args, ordinal];
      const key = `${tool}:${this.#engine.ids.sha256(canonicalJson(parts)).slice(0, 32)}`;
      if (this.#spelled.has(key) || lookUp(effects, key)?.settled === "confirmed") continue;
      this.#spelled.add(key);
      return { key, keySource: "default", ordinal };
    }
  }

  #isOther(known: Effect | undefined, call: { readonly tool: string; readonly argsDigest: string }): boolean {
    return known !== undefined && (known.tool !== call.tool || known.argsDigest !== call.argsDigest);
  }
  /** The answer to a call whose key is on the ledger already; null where it is still to be made. */
  #known(call: { readonly key: string; readonly tool: string; readonly argsDigest: string }): Promise<Answer> | Answer | null {
    const known = lookUp(this.#tenure.state.effects, call.key);
    if (this.#isOther(known, call)) return conflict(call.key);
    return known?.settled === "confirmed" && known.contract !== "none" ? this.#recorded(known) : null;
  }

  /** Makes the effect of an intent. */
  async #make(tool: Tool, intent: Intent): Promise<Answer> {
    const known = this.#known(intent);
    if (known !== null) return known;
    return this.#once(intent, async () => {
      this.#given.add(intent.key);
      try {
        return this.#answer(await this.#effects.make(tool, intent, this.#actor), intent.key);
      } catch (error) {
        // Another call of this run has spent the last of the budget before this one could be asked for.
        if (error instanceof Suspended && spentToTheLast(this.#tenure.state)) return this.#usedUp();
        throw error;
      }
    });
  }
  #answer(settled: Settled, key: string): Answer {
    if (settled.kind === "unknown") {
      this.#suspended = true;
      return no(424, "incomplete_tool_turn", `outcome of ${key} is unknown; a person has to settle it`);
    }
    if (settled.kind === "put_off") {
      this.#suspended = true;
      return no(423, "retry_pending", `the target of ${key} asked for time; leave, the step runs again when it is over`);
    }
    return { ok: true, value: { outcome: settled.kind, result: settled.result } };
  }
  /** A result that is on the ledger and not in the blob store is never taken for empty, and the call is not made again for it. */
  async #recorded({ key, result }: Pick<Effect, "key" | "result">): Promise<Answer> {
    const content = await whole(this.#engine, this.#tenure.sessionId, result);
    if (!content) {
      this.#missing = `the recorded result of ${key} is not in the blob store: ${JSON.stringify(result)}`;
      return no(424, "evidence_missing", this.#missing);
    }
    return { ok: true, value: { outcome: "confirmed", result: content.value } };
  }

  /** After the last of the budget is spent nothing begins; what is under way is settled. */
  #usedUp(): Answer {
    this.#suspended = true;
    return no(409, "budget_exhausted", "the budget of cost or tokens is used up; the step runs again after a raise");
  }
  #needsApproval(tool: Tool): boolean {
    return tool.approval === "before" || triggersOf(this.#tenure.state, "before").some((one) => one.value === tool.name);
  }
  async #ask(trigger: "before" | "repeat_after_takeover", action: { readonly [key: string]: Json }): Promise<Answer> {
    const checkpoint = `cp-${this.#engine.ids.uuid()}`;
    const expires = trigger === "before" ? (triggersOf(this.#tenure.state, "before").find((one) => one.value === action["tool"])?.expires ?? null) : null;
    const data = { checkpoint, trigger, action, digest: digestOf(action, this.#engine.ids.sha256), expires };
    this.#suspended = true;
    await this.#tenure.append([{ type: "approval_requested", data, actor: this.#actor }]);
    return no(423, "approval_pending", `a person must decide on ${checkpoint}; leave, the step runs again after the decision`);
  }
  #leaf(): string {
    return this.#tenure.state.open?.leaf ?? "";
  }
}
