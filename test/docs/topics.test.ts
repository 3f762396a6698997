/** The table of topics in infra/README.md has the settings that `topics apply` sees to. */
import { join } from "node:path";
import { topicsOf } from "@loopledger/infra/topics";
import { expect, test } from "vitest";
import { pageOf } from "./page.ts";

const page = pageOf(join(import.meta.dirname, "../../infra/README.md"));
const year = 365 * 24 * 3_600_000;
/** Values that the table says in words. */
const inWords: Readonly<Record<string, string>> = { [year]: "of a year", [10 * year]: "of ten years", [8 << 20]: "of 8 MiB" };
const spelled = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).filter(([key]) => key !== "min.insync.replicas").map(([key, value]) => (inWords[value] === undefined ? `\`${key}=${value}\`` : `\`${key}\` ${inWords[value]}`)).sort();
const said = (cell: string): string[] => [...cell.matchAll(/`([a-z.]+)(?:=[^`]+`|` of (?:a year|ten years|8 MiB))/g)].map(([text]) => text).sort();

test("every topic has its row, with all that must be and all that a new one gets", () => {
  const topics = topicsOf("<prefix>", { replication: 3, flush: true });
  expect(page.names("Topics")).toEqual(topics.map(({ name }) => name).sort());
  for (const { name, config, initial } of topics) {
    const [, , must = "", also = ""] = page.row("Topics", name).split("|");
    expect([name, said(must)]).toEqual([name, spelled(config)]);
    expect([name, said(also)]).toEqual([name, spelled(initial)]);
  }
});
