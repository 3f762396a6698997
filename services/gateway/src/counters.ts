/** The gateway's few figures, counted as records are folded, in Prometheus text. */
import type { Offset } from "@loopledger/shared/core/brand";
import { disposition } from "@loopledger/shared/core/events/fields";
import { voidReasons } from "@loopledger/shared/core/session/state";
import { standingOf } from "@loopledger/shared/core/session/status";
import type { Change, Engine } from "@loopledger/shared/runtime";

export class Counters {
  readonly #engine: Engine;
  /** Everything before it is counted, or was there before. */
  readonly #counted: Map<number, Offset>;
  readonly #stops: readonly (() => void)[];
  readonly #void = new Map<string, number>();
  #accepted = 0;
  #held = 0;
  requests = 0;
  refusals = 0;
  dropped = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#counted = new Map(engine.folds.handed());
    this.#stops = [engine.folds.listen((change) => this.#count(change), "gateway.counters"), engine.folds.onFolded(() => this.#move(), "gateway.counters.positions")];
  }
  close(): void {
    for (const stop of this.#stops) stop();
  }
  #move(): void {
    for (const [partition, folded] of this.#engine.folds.folded()) {
      if (folded > (this.#counted.get(partition) ?? 0)) this.#counted.set(partition, folded);
    }
  }
  /** A session's history is told again whenever it is read again: only what is new counts. */
  #count({ entry, verdict }: Change): void {
    if (entry.offset < (this.#counted.get(entry.partition) ?? 0)) return;
    switch (verdict.kind) {
      case "accepted": this.#accepted++; return;
      case "held": this.#held++; return;
      case "void": this.#void.set(verdict.reason, (this.#void.get(verdict.reason) ?? 0) + 1);
    }
  }

  text(streamsOpen: number): string {
    const sessions = new Map<string, number>(disposition.options.map((one) => [one, 0]));
    for (const id of this.#engine.folds.ids()) {
      const state = this.#engine.folds.peek(id);
      if (!state?.submission) continue;
      const standing = standingOf(state).disposition;
      sessions.set(standing, (sessions.get(standing) ?? 0) + 1);
    }
    const one = (type: Metric["type"], help: string, value: number): Metric => ({ type, help, values: [["", value]] });
    return [
      metric("loopledger_sessions", { type: "gauge", help: "Sessions in memory by disposition", values: [...sessions].map(([name, value]) => [`{disposition="${name}"}`, value]) }),
      metric("loopledger_records_total", {
        type: "counter", help: "Records folded since the start, by verdict",
        values: [['{verdict="accepted"}', this.#accepted], ['{verdict="held"}', this.#held], ['{verdict="void"}', [...this.#void.values()].reduce((sum, count) => sum + count, 0)]],
      }),
      metric("loopledger_void_total", {
        type: "counter", help: "Void records since the start, by reason", values: voidReasons.map((reason) => [`{reason="${reason}"}`, this.#void.get(reason) ?? 0]),
      }),
      metric("loopledger_http_requests_total", one("counter", "Requests answered", this.requests)),
      metric("loopledger_http_refusals_total", one("counter", "Requests answered with a problem", this.refusals)),
      metric("loopledger_streams_dropped_total", one("counter", "Stream clients dropped because they did not read", this.dropped)),
      metric("loopledger_streams_open", one("gauge", "Stream clients that are connected", streamsOpen)),
    ].join("");
  }
}

interface Metric { readonly type: "gauge" | "counter"; readonly help: string; readonly values: readonly (readonly [string, number])[] }
function metric(name: string, { type, help, values }: Metric): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${values.map(([labels, value]) => `${name}${labels} ${value}\n`).join("")}`;
}
