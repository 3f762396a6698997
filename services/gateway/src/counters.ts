/** The gateway's own figures: the sessions that it holds in memory, its requests, its streams. */
import { disposition } from "@loopledger/shared/core/events/fields";
import { standingOf } from "@loopledger/shared/core/session/status";
import { Counter, type Engine, type Family, gauge } from "@loopledger/shared/runtime";

export class Counters {
  readonly requests = new Counter({ name: "loopledger_http_requests_total", help: "Requests answered" });
  readonly refusals = new Counter({ name: "loopledger_http_refusals_total", help: "Requests answered with a problem" });
  readonly dropped = new Counter({ name: "loopledger_streams_dropped_total", help: "Stream clients dropped because they did not read" });

  families({ folds }: Engine, streamsOpen: number): Family[] {
    const sessions = new Map<string, number>(disposition.options.map((one) => [one, 0]));
    for (const id of folds.ids()) {
      const state = folds.peek(id);
      if (!state?.submission) continue;
      const standing = standingOf(state).disposition;
      sessions.set(standing, (sessions.get(standing) ?? 0) + 1);
    }
    return [
      gauge({ name: "loopledger_sessions", help: "Sessions in memory by disposition" }, [...sessions].map(([name, value]) => ({ labels: { disposition: name }, value }))),
      this.requests.family(), this.refusals.family(), this.dropped.family(),
      gauge({ name: "loopledger_streams_open", help: "Stream clients that are connected" }, streamsOpen),
    ];
  }
}
