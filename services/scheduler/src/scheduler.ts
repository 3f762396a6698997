/**
 * The scheduler: writes dispatches, timers, receipts and reports of ends for sessions that nobody carries.
 *
 * It holds nothing between two looks, and any number of schedulers may run: what they write is recomputable, so that
 * a cause has one accepted dispatch however many of them write it.
 */
import type { SessionState } from "@loopledger/shared/core/session/state";
import { type Engine, type Scheduler, appendAll, schedulerActor, withDerived } from "@loopledger/shared/runtime";
import { owing } from "./owing.ts";

export function makeScheduler(engine: Engine): Scheduler {
  const look = (state: SessionState) => owing(state, engine.logClock.now(), engine.ids.sha256);
  return {
    owes: (state) => look(state).kind !== "nothing",
    async write(state) {
      const owed = look(state);
      if (owed.kind === "nothing") return false;
      const batch = owed.kind === "timers"
        ? owed.drafts.map((draft) => engine.author.derive(state.sessionId, draft, schedulerActor(engine)))
        : withDerived(engine, state, []);
      const verdicts = batch.length === 0 ? [] : await appendAll(engine, state.sessionId, batch);
      return verdicts.some((verdict) => verdict.kind === "accepted");
    },
  };
}
