/** Bodies of requests: JSON or YAML, read strictly, bounded, and told apart by their media type alone. */
import { messageOf } from "@loopledger/shared/core/errors";
import type { FastifyRequest } from "fastify";
import { faultsOfSchema, faultsOfText } from "@loopledger/shared/core/schema-faults";
import { faultsOfPlan } from "@loopledger/shared/core/session/plan";
import { type Goal, goal } from "@loopledger/shared/core/events/goal";
import type { z } from "zod";
import { Problem, type ProblemCode } from "./problems.ts";
import type { App } from "./service.ts";

const yamlTypes = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];
/** Most nodes that YAML's aliases may stand for: a small text must not become a large value. */
const aliasesMax = 100;

export function takeBodies(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, async (_request: FastifyRequest, text: string) => parseJson(text));
  app.addContentTypeParser(yamlTypes, { parseAs: "string" }, (_request: FastifyRequest, text: string) => parseYaml(text));
}

function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem("invalid_request", `The body is no JSON: ${firstLine(messageOf(error))}`);
  }
}

async function parseYaml(text: string): Promise<unknown> {
  if (text.trim() === "") return undefined;
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text, { uniqueKeys: true, strict: true, logLevel: "silent" });
  const faults = document.errors.map((error) => firstLine(error.message));
  if (faults.length > 0) throw new Problem("invalid_request", `The body is no YAML that can be taken: ${faults[0]}`, { faults });
  try {
    return document.toJS({ maxAliasCount: aliasesMax });
  } catch (error) {
    throw new Problem("invalid_request", `The body is no YAML that can be taken: ${firstLine(messageOf(error))}`);
  }
}

/** The value as the schema takes it. Throws a problem that names every mistake. */
export function checked<S extends z.ZodType>(schema: S, value: unknown, code: ProblemCode = "invalid_request"): z.output<S> {
  const read = schema.safeParse(value);
  const faults = [...faultsOfText(value), ...(read.success ? [] : faultsOfSchema(schema, read.error, value))];
  if (read.success && faults.length === 0) return read.data;
  throw new Problem(code, faults.slice(0, 3).join("; "), { faults });
}

export function checkedGoal(value: unknown): Goal {
  const read = checked(goal, value, "invalid_goal");
  const faults = faultsOfPlan(read);
  if (faults.length > 0) throw new Problem("invalid_goal", faults.slice(0, 3).join("; "), { faults });
  return read;
}

function firstLine(text: string): string {
  return text.split("\n")[0]?.replace(/:$/, "") ?? text;
}
