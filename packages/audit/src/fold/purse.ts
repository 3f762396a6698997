/** What a session may spend, has set aside and has spent. Running time counts while somebody runs, from a claim to the last record of its epoch. */
import type { Amounts, Cycle, Usage } from "@loopledger/shared/core/events/fields";
import type { Bounds } from "@loopledger/shared/core/events/goal";

export type Currency = "iterations" | "costUsd" | "tokens" | "wallSeconds";
export interface Line {
  readonly limit: number | null;
  readonly reserved: number;
  readonly spent: number;
  readonly remaining: number | null;
}
const currencies: readonly Currency[] = ["iterations", "costUsd", "tokens", "wallSeconds"];

export class Purse {
  #limits: Readonly<Record<Currency, number | null>> = { iterations: null, costUsd: null, tokens: null, wallSeconds: null };
  readonly #raised = { iterations: 0, costUsd: 0, tokens: 0, wallSeconds: 0 };
  /** Without a prototype, because the ids are other people's text. */
  #reserved: Record<string, Amounts> = Object.create(null) as Record<string, Amounts>;
  #runningSince: number | null = null;
  iterations = 0;
  costUsd = 0;
  tokens = 0;
  runningMs = 0;
  /** Cost and tokens that former owners had set aside and nobody settled. */
  readonly forfeited = { costUsd: 0, tokens: 0 };

  open(bounds: Bounds): void {
    this.#limits = { iterations: bounds.iterations, costUsd: bounds.costUsd, tokens: bounds.tokens, wallSeconds: bounds.wallSeconds };
  }
  raise(by: { readonly [C in Currency]?: number | undefined }): void {
    for (const currency of currencies) this.#raised[currency] += by[currency] ?? 0;
  }

  hasReserved(id: string): boolean {
    return id in this.#reserved;
  }
  reserve(id: string, amounts: Amounts): void {
    this.#reserved[id] = amounts;
  }
  /** A record says what it used; the reservation that it names is settled by it. */
  spend(usage: Usage): void {
    if (usage.reservation !== undefined) delete this.#reserved[usage.reservation];
    this.costUsd += usage.costUsd ?? 0;
    this.tokens += (usage.tokensIn ?? 0) + (usage.tokensOut ?? 0);
  }
  /** Another owner stands in: what the former one had set aside counts as spent. */
  forfeit(): void {
    for (const { costUsd = 0, tokens = 0 } of Object.values(this.#reserved)) {
      this.costUsd += costUsd;
      this.tokens += tokens;
      this.forfeited.costUsd += costUsd;
      this.forfeited.tokens += tokens;
    }
    this.#reserved = Object.create(null) as Record<string, Amounts>;
  }

  run(at: number): void {
    this.#runningSince = at;
  }
  /** Counts what ran until here; it goes on running if it ran. */
  tick(at: number): void {
    if (this.#runningSince === null) return;
    this.runningMs += at - this.#runningSince;
    this.#runningSince = at;
  }
  rest(): void {
    this.#runningSince = null;
  }

  limit(currency: Currency): number | null {
    const limit = this.#limits[currency];
    return limit === null ? null : limit + this.#raised[currency];
  }
  line(currency: Currency, buildIsOpen: boolean): Line {
    const limit = this.limit(currency);
    const [reserved, spent] = this.#amounts(currency, buildIsOpen);
    return { limit, reserved, spent, remaining: limit === null ? null : Math.max(limit - reserved - spent, 0) };
  }
  #amounts(currency: Currency, buildIsOpen: boolean): readonly [number, number] {
    const aside = Object.values(this.#reserved);
    switch (currency) {
      case "iterations": return buildIsOpen ? [1, this.iterations - 1] : [0, this.iterations];
      case "costUsd": return [aside.reduce((sum, one) => sum + (one.costUsd ?? 0), 0), this.costUsd];
      case "tokens": return [aside.reduce((sum, one) => sum + (one.tokens ?? 0), 0), this.tokens];
      case "wallSeconds": return [0, this.runningMs / 1000];
    }
  }
  lines(buildIsOpen: boolean): Readonly<Record<Currency, Line>> {
    const line = (currency: Currency): Line => this.line(currency, buildIsOpen);
    return { iterations: line("iterations"), costUsd: line("costUsd"), tokens: line("tokens"), wallSeconds: line("wallSeconds") };
  }

  fits(amounts: Amounts): boolean {
    const cost = this.line("costUsd", false).remaining;
    const tokens = this.line("tokens", false).remaining;
    return (cost === null || (amounts.costUsd ?? 0) <= cost) && (tokens === null || (amounts.tokens ?? 0) <= tokens);
  }
  /** Which budget a cycle needs and has not. A review needs running time alone. */
  lacks(cycle: Cycle, buildIsOpen: boolean): Currency | null {
    const needed = cycle === "build" ? currencies : (["wallSeconds"] as const);
    return needed.find((currency) => this.line(currency, buildIsOpen).remaining === 0) ?? null;
  }
  /** Money or tokens are spent to the last; what is merely set aside does not count. */
  get isSpent(): boolean {
    const over = (currency: "costUsd" | "tokens", spent: number): boolean => spent >= (this.limit(currency) ?? Number.POSITIVE_INFINITY);
    return over("costUsd", this.costUsd) || over("tokens", this.tokens);
  }
}
