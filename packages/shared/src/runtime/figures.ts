/** Figures of a process: what is counted, what is measured, and the text form in which both are scraped (Prometheus). */
export interface Row {
  /** Follows the family's name: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}
interface Named {
  readonly name: string;
  readonly help: string;
}
export interface Family extends Named {
  readonly type: "counter" | "gauge" | "histogram";
  readonly rows: readonly Row[];
}

/** What is so at the moment: one number, or one for each value of a label. */
export function gauge(named: Named, value: number | readonly Row[]): Family {
  return { ...named, type: "gauge", rows: typeof value === "number" ? [{ value }] : value };
}

/** What only grows: one number. */
export class Counter {
  readonly #named: Named;
  #value = 0;

  constructor(named: Named) {
    this.#named = named;
  }
  add(by = 1): void {
    this.#value += by;
  }
  family(): Family {
    return { ...this.#named, type: "counter", rows: [{ value: this.#value }] };
  }
}

/** What only grows, one number for each value of a label. Each of them stands there from the beginning: a first one must be seen as a change. */
export class LabelledCounter<T extends string> {
  readonly #named: Named;
  readonly #label: string;
  readonly #values: Map<T, number>;

  constructor(named: Named, label: string, values: readonly T[]) {
    this.#named = named;
    this.#label = label;
    this.#values = new Map(values.map((value) => [value, 0]));
  }
  add(value: T): void {
    this.#values.set(value, (this.#values.get(value) ?? 0) + 1);
  }
  family(): Family {
    return { ...this.#named, type: "counter", rows: [...this.#values].map(([value, count]) => ({ labels: { [this.#label]: value }, value: count })) };
  }
}

export function figuresText(families: readonly Family[]): string {
  return families.map(({ name, type, help, rows }) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${rows.map((row) => rowText(name, row)).join("")}`).join("");
}
function rowText(name: string, { suffix = "", labels = {}, value }: Row): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`);
  return `${name}${suffix}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
}
