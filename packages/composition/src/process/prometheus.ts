/** The text form in which figures are scraped. */
export interface Row {
  /** Follows the family's name: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}
export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly rows: readonly Row[];
}

export function familyText({ name, type, help, rows }: Family): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${rows.map((row) => rowText(name, row)).join("")}`;
}
function rowText(name: string, { suffix = "", labels = {}, value }: Row): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`);
  return `${name}${suffix}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
}
