/** `step`: a running maker or check speaks with its claim from any language, a shell included. */
import { stepClient } from "@loopledger/handlers/step-client";
import type { Observation, StepApi } from "@loopledger/shared/core/effects/handling";
import type { Usage } from "@loopledger/shared/core/events/fields";
import type { Json } from "@loopledger/shared/core/json";
import type { Command } from "commander";
import { type Bind, type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliError, UsageError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { above, whole } from "../running/numbers.ts";
import { showAnswer, stepCodesHelp } from "../stepping/answers.ts";

export const register: Register = (program, bind) => {
  const step = program.command("step")
    .description("Tools, durable steps, observations, usage and budget of the running claim; for makers and checks.")
    .addHelpText("after", `\n${stepCodesHelp}${example("loopledger step tool deploy --args '{\"version\":\"067138a\"}' --key deploy:067138a")}`);
  registerCalls(step, bind);
  registerReports(step, bind);
  registerBounds(step, bind);
};

function registerCalls(step: Command, bind: Bind): void {
  step.command("tool <name>").description("calls a tool and waits for its outcome")
    .option("--args <json>", "its arguments", "{}").option("--key <key>", "a semantic key, the same for the same effect")
    .addHelpText("after", example("loopledger step tool deploy --args '{\"version\":\"067138a\"}'"))
    .action(bind<{ args: string; key?: string }>(async (context, [name = ""], { args, key }) =>
      showAnswer(context, await api(context).tool(name, jsonOf("--args", args), key))));
  step.command("step <name>").description("a durable step: records --result once; later calls return what was recorded")
    .option("--input <json>", "what the step depends on", "null").option("--result <json>", "its result, where it was done now")
    .addHelpText("after", example("loopledger step step download --input '\"v2\"' --result '{\"bytes\":3}'"))
    .action(bind<{ input: string; result?: string }>(async (context, [name = ""], { input, result }) =>
      showAnswer(context, await api(context).step(name, jsonOf("--input", input), result === undefined ? undefined : jsonOf("--result", result)))));
}

interface ObserveOptions {
  readonly scope?: string; readonly query?: string; readonly observedAt?: string; readonly page?: string; readonly pages?: string;
  readonly complete?: boolean; readonly revision?: string; readonly outcome?: string; readonly items?: string;
}
function registerReports(step: Command, bind: Bind): void {
  step.command("observe [json]").description("records what was seen, where and when; as flags, or as one JSON object")
    .option("--scope <text>", "what was looked at").option("--query <json>", "how it was asked for").option("--observed-at <time>", "when (default: now)")
    .option("--page <n>").option("--pages <n>").option("--complete", "nothing was left out").option("--revision <text>")
    .option("--outcome <word>", "observed, observed_empty, partial, stale or failed").option("--items <json>", "what was found, a list")
    .addHelpText("after", example("loopledger step observe --scope inbox --outcome observed --complete --items '[\"a.txt\"]'"))
    .action(bind<ObserveOptions>(async (context, [json], options) => showAnswer(context, await api(context).observe(observationOf(json, options)))));
  step.command("retrieval <query>").description("records what was looked up in a memory")
    .requiredOption("--items <json>", "a list of { id, digest }")
    .addHelpText("after", example("loopledger step retrieval 'how to deploy' --items '[{\"id\":\"doc-1\",\"digest\":\"sha256:…\"}]'"))
    .action(bind<{ items: string }>(async (context, [query = ""], { items }) =>
      showAnswer(context, await api(context).retrieval(query, jsonOf("--items", items) as unknown as { id: string; digest: string }[]))));
  step.command("model <json>").description("records a model call").addHelpText("after", example("loopledger step model '{\"provider\":\"local\",\"model\":\"small\",\"usage\":{}}'"))
    .action(bind(async (context, [json = ""]) => showAnswer(context, await api(context).model(jsonOf("the model call", json)))));
}

interface UsageOptions { readonly cost?: string; readonly tokensIn?: string; readonly tokensOut?: string; readonly model?: string; readonly reservation?: string }
function registerBounds(step: Command, bind: Bind): void {
  step.command("usage [json]").description("reports what was spent; as flags, or as one JSON object")
    .option("--cost <usd>").option("--tokens-in <n>").option("--tokens-out <n>").option("--model <name>").option("--reservation <id>")
    .addHelpText("after", example("loopledger step usage --cost 0.42 --tokens-in 1200 --tokens-out 300"))
    .action(bind<UsageOptions>(async (context, [json], options) => showAnswer(context, await api(context).usage(usageOf(json, options)))));
  step.command("reserve").description("sets budget aside before it is spent; prints the reservation's id")
    .option("--cost <usd>").option("--tokens <n>").addHelpText("after", example("loopledger step reserve --cost 0.50"))
    .action(bind<{ cost?: string; tokens?: string }>(async (context, _words, { cost, tokens }) => showAnswer(context, await api(context).reserve({
      ...(cost !== undefined && { costUsd: above("--cost", cost, 0) }), ...(tokens !== undefined && { tokens: whole("--tokens", tokens, 1) }),
    }))));
  step.command("budget").description("what is left").addHelpText("after", example("loopledger step budget"))
    .action(bind(async (context) => showAnswer(context, await api(context).budget())));
  step.command("context").description("the context of this step, rebuilt from the ledger").requiredOption("--tokens <n>", "at most so many")
    .addHelpText("after", example("loopledger step context --tokens 8000"))
    .action(bind<{ tokens: string }>(async (context, _words, { tokens }) => showAnswer(context, await api(context).context(whole("--tokens", tokens, 1)))));
}

function api({ environment }: CommandContext): StepApi {
  const { stepUrl, stepToken } = environment;
  if (stepUrl !== null && stepToken !== null) return stepClient({ url: stepUrl, token: stepToken });
  throw new CliError("no_step", "LOOPLEDGER_STEP_URL and LOOPLEDGER_STEP_TOKEN are not set.", {
    exitCode: exitCodes.unreachable, next: "Call this from a maker or check that loopledger runs.",
  });
}

function jsonOf(what: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new UsageError(`${what} is no JSON: ${error instanceof Error ? error.message : ""}.`, { next: "A text needs quotes of its own: '\"text\"'." });
  }
}
function objectOf(what: string, text: string | undefined): Readonly<Record<string, Json>> {
  const value = text === undefined ? {} : jsonOf(what, text);
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new UsageError(`${what} is no JSON object.`);
  return value as Readonly<Record<string, Json>>;
}
function observationOf(json: string | undefined, options: ObserveOptions): Observation {
  const { page, pages, complete } = options;
  const paged = page !== undefined || pages !== undefined || complete !== undefined;
  const given = objectOf("the observation", json);
  return {
    observedAt: new Date().toISOString(), items: [], ...given,
    ...(options.scope !== undefined && { scope: options.scope }),
    ...(options.query !== undefined && { query: jsonOf("--query", options.query) }),
    ...(options.observedAt !== undefined && { observedAt: options.observedAt }),
    ...(paged && { pagination: { page: page === undefined ? 1 : whole("--page", page, 0), ...(pages !== undefined && { pages: whole("--pages", pages, 0) }), complete: complete ?? false } }),
    ...(options.revision !== undefined && { revision: options.revision }),
    ...(options.outcome !== undefined && { outcome: options.outcome }),
    ...(options.items !== undefined && { items: jsonOf("--items", options.items) }),
  } as unknown as Observation;
}
function usageOf(json: string | undefined, options: UsageOptions): Usage {
  return {
    ...objectOf("the usage", json),
    ...(options.cost !== undefined && { costUsd: Number(options.cost) }),
    ...(options.tokensIn !== undefined && { tokensIn: whole("--tokens-in", options.tokensIn, 0) }),
    ...(options.tokensOut !== undefined && { tokensOut: whole("--tokens-out", options.tokensOut, 0) }),
    ...(options.model !== undefined && { model: options.model }),
    ...(options.reservation !== undefined && { reservation: options.reservation }),
  } as Usage;
}
