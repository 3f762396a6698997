import type { Target } from "../config/definitions.ts";

/** A header or address names an environment variable that is not set. Nothing was sent. */
export class VariableMissing extends Error {
  readonly code = "variable_missing";
}
export interface Expansion {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Stands for `{key}`, url-encoded. */
  readonly key?: string;
}

/** Address and headers with `{env:NAME}` and `{key}` filled in. */
export function expanded(target: Target, expansion: Expansion): { url: string; headers: Record<string, string> } {
  const fill = (text: string) => text.replace(/\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = expansion.environment[name];
    if (value === undefined) throw new VariableMissing(`the environment variable ${name} is not set`);
    return value;
  });
  const url = fill(target.url).replaceAll("{key}", encodeURIComponent(expansion.key ?? ""));
  return { url, headers: Object.fromEntries(Object.entries(target.headers ?? {}).map(([name, value]) => [name.toLowerCase(), fill(value)])) };
}

/** The values that `{env:NAME}` stands for: they are never to be shown. */
export function secretsOf(target: Target, environment: Expansion["environment"]): string[] {
  return Object.values(target.headers ?? {}).concat(target.url)
    .flatMap((text) => [...text.matchAll(/\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => environment[name ?? ""] ?? ""))
    .filter((value) => value !== "");
}
