/** What an operator may write of a maker, a check and a tool. Unknown keys are refused with the nearest known name. */
import type { Json } from "@loopledger/shared/core/json";
import { nearestName } from "@loopledger/shared/core/nearest";
import { z } from "zod";
import type { CheckFunction, LookFunction, MakerFunction, ToolFunction } from "../inline/functions.ts";

/** Time limits in seconds where the operator names none. */
export const defaultSeconds = { maker: 3600, idle: 900, check: 600, tool: 30, callWindow: 60, callMargin: 30, lookup: 30 } as const;

const seconds = z.number().positive().max(2_000_000);
const word = z.string().max(65_536).refine((text) => !text.includes("\0"), "holds a NUL");
const argv = z.union([z.array(word).min(1).max(1000), word.min(1)]);
const environmentName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is no name of an environment variable")
  .refine((text) => !text.startsWith("LOOPLEDGER_"), "names that start with LOOPLEDGER_ are set by the engine");
const glob = z.string().min(1).max(1024);
const aFunction = <F>() => z.custom<F>((value) => typeof value === "function", "must be a function");

export const target = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: "must be an http or https address" }),
  headers: z.record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/), z.string().max(8192)).optional(),
  timeoutSeconds: seconds.optional(),
});
export type Target = z.infer<typeof target>;
const lookTarget = target.extend({ url: target.shape.url.refine((url) => url.includes("{key}"), "needs {key}: the place where the key stands") });

const program = {
  exec: argv, shell: z.boolean().optional(), cwd: word.min(1).optional(), env: z.array(environmentName).max(100).optional(), timeoutSeconds: seconds.optional(),
};
const makerOptions = { effects: z.enum(["workspace", "external"]).optional(), timeoutSeconds: seconds.optional() };
const checkOptions = { pin: z.array(glob).max(1000).optional(), timeoutSeconds: seconds.optional() };
const toolOptions = {
  contract: z.enum(["none", "idempotent", "lookup", "unsafe"]).default("unsafe"),
  lookup: z.union([lookTarget, z.strictObject({ fn: aFunction<LookFunction>() }), aFunction<LookFunction>()]).optional(),
  fences: z.boolean().optional(),
  callWindowSeconds: seconds.optional(),
  approval: z.literal("before").optional(),
  key: aFunction<(args: Json) => string>().optional(),
  mutates: z.boolean().optional(),
  timeoutSeconds: seconds.optional(),
};

export const makerKinds = {
  exec: z.strictObject({ ...program, ...makerOptions, idleSeconds: seconds.optional(), stdin: z.enum(["prompt", "json"]).optional() }),
  http: z.strictObject({ http: target, ...makerOptions }),
  fn: z.strictObject({ fn: aFunction<MakerFunction>(), ...makerOptions }),
};
export const checkKinds = {
  exec: z.strictObject({ ...program, ...checkOptions, idleSeconds: seconds.optional() }),
  http: z.strictObject({ http: target, ...checkOptions }),
  fn: z.strictObject({ fn: aFunction<CheckFunction>(), ...checkOptions }),
};
export const toolKinds = {
  exec: z.strictObject({ ...program, ...toolOptions }),
  http: z.strictObject({ http: target, ...toolOptions }),
  fn: z.strictObject({ fn: aFunction<ToolFunction>(), ...toolOptions }),
};

type Kinds = { readonly exec: z.ZodObject; readonly http: z.ZodObject; readonly fn: z.ZodObject };
type Defined<K extends Kinds> = { [Kind in keyof K & string]: { readonly kind: Kind } & z.infer<K[Kind]> }[keyof K & string];
export type MakerDefinition = Defined<typeof makerKinds>;
export type CheckDefinition = Defined<typeof checkKinds>;
export type ToolDefinition = Defined<typeof toolKinds>;
export type ExecDefinition = Extract<MakerDefinition | CheckDefinition | ToolDefinition, { kind: "exec" }>;

/** One handler: exactly one of `exec`, `http` and `fn` says what it is; the other keys are its options. */
export function handlerOf<K extends Kinds>(what: string, kinds: K) {
  return z.unknown().transform((value, context): Defined<K> => {
    const refuse = (message: string, path: PropertyKey[] = []) => context.addIssue({ code: "custom", message, path });
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      refuse(`a ${what} is an object with exec, http or fn`);
      return z.NEVER;
    }
    const named = Object.keys(kinds).filter((kind) => Object.hasOwn(value, kind)) as (keyof K & string)[];
    const [kind] = named;
    if (kind === undefined || named.length > 1) {
      refuse(`a ${what} has exactly one of exec, http and fn${kind === undefined ? hints(Object.keys(value), Object.keys(kinds)) : ""}`);
      return z.NEVER;
    }
    const schema = kinds[kind] as z.ZodObject;
    const parsed = schema.safeParse(value);
    if (!parsed.success) {
      for (const issue of parsed.error.issues) refuse(messageOf(issue, Object.keys(schema.shape)), issue.path);
      return z.NEVER;
    }
    const definition = { kind, ...parsed.data } as unknown as Defined<K>;
    for (const fault of faultsOf(definition as Partial<ExecDefinition & ToolDefinition>)) refuse(fault);
    return definition;
  });
}

/** What no single field can see. */
function faultsOf(definition: Partial<Extract<ToolDefinition, { kind: "exec" }>> & { readonly http?: Target }): string[] {
  const faults: string[] = [];
  const { exec, shell } = definition;
  if (typeof exec === "string" && !shell) faults.push("exec is a list of words; with shell: true it is one line for /bin/sh");
  if (Array.isArray(exec) && shell && exec.length > 1) faults.push("with shell: true exec is one line for /bin/sh, not a list of words");
  if (definition.contract === "lookup" && !definition.lookup) faults.push("contract lookup needs lookup: where to ask what became of a key");
  const { callWindowSeconds } = definition;
  const timeoutSeconds = definition.http?.timeoutSeconds ?? definition.timeoutSeconds ?? defaultSeconds.tool;
  if (callWindowSeconds !== undefined && callWindowSeconds <= timeoutSeconds) {
    faults.push(`callWindowSeconds (${callWindowSeconds}) must be longer than timeoutSeconds (${timeoutSeconds}): the window holds the whole call`);
  }
  return faults;
}

export function messageOf(issue: z.core.$ZodIssue, known: readonly string[]): string {
  if (issue.code !== "unrecognized_keys") return issue.message;
  return issue.keys.map((key) => `unknown key ${key}${hints([key], issue.path.length === 0 ? known : knownInside(issue.path))}`).join("; ");
}

function knownInside(path: readonly PropertyKey[]): readonly string[] {
  return path[0] === "http" || path[0] === "lookup" ? Object.keys(target.shape) : [];
}

function hints(written: readonly string[], known: readonly string[]): string {
  const near = written.map((key) => nearestName(key, known)).find((name) => name !== null);
  return near === undefined ? "" : `; did you mean ${near}?`;
}
