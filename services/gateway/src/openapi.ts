/** The description of the API (OpenAPI 3.1), made from the schemas that requests are checked against. */
import type { RouteOptions } from "fastify";
import { z } from "zod";
import { type ProblemCode, problemEntry } from "./problems.ts";
import { named } from "./schemas.ts";

type Json = Record<string, unknown>;
interface Schemas { readonly params?: z.ZodType; readonly querystring?: z.ZodType; readonly body?: z.ZodType }

const always: readonly ProblemCode[] = ["invalid_request", "forbidden_host", "forbidden_origin", "too_many_requests", "stopping", "internal"];

export function openApiOf(routes: readonly RouteOptions[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const method = String(route.method).toLowerCase();
    if (method === "head" || !route.config?.notes) continue;
    const path = route.url.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [method]: operationOf(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "loopledger", version: "1", description: "Durable runtime for agent loops: submit goals, follow sessions, decide, reconcile." },
    paths, components: { schemas: namedSchemas() },
  };
}

function operationOf(route: RouteOptions): Json {
  const { summary, answers, problems = [], ...notes } = route.config?.notes ?? { summary: "", answers: {} };
  const { params, querystring, body = notes.body } = (route.schema ?? {}) as Schemas;
  const success = Object.entries(answers).map(([status, schema]) => [status, {
    description: status === "201" ? "Created" : status === "200" ? "OK" : "Not ready",
    ...(schema && { content: { "application/json": { schema: schemaOf(schema, "output") } } }),
  }] as const);
  return {
    operationId: operationIdOf(route), summary, parameters: [...parametersOf(params, "path"), ...parametersOf(querystring, "query")],
    ...(body && { requestBody: requestBodyOf(body) }), responses: { ...problemsOf([...problems, ...always]), ...Object.fromEntries(success) },
  };
}
function operationIdOf({ method, url }: RouteOptions): string {
  const words = url.split("/").filter((part) => part !== "" && part !== "v1").map((part) => part.replace(":", "by-").replace(/\W/g, "-"));
  return [String(method).toLowerCase(), ...words].join("-");
}
function requestBodyOf(body: z.ZodType): Json {
  const schema = schemaOf(body, "input");
  return { content: { "application/json": { schema }, "application/yaml": { schema } } };
}
function parametersOf(schema: z.ZodType | undefined, place: "path" | "query"): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemaOf(schema, "input") as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, of]) => ({ name, in: place, required: place === "path" || required.includes(name), schema: of }));
}
function problemsOf(codes: readonly ProblemCode[]): Record<string, Json> {
  const byStatus = Map.groupBy(new Set(codes), (code) => String(problemEntry(code).status));
  return Object.fromEntries([...byStatus].map(([status, of]) => [status, {
    description: of.join(", "), content: { "application/problem+json": { schema: refTo("Problem") } },
  }]));
}

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
type Direction = "input" | "output";

function registryOf(extra: Readonly<Record<string, z.ZodType>> = {}): z.core.$ZodRegistry<{ id?: string | undefined }> {
  const registry = z.registry<{ id?: string | undefined }>();
  for (const [id, schema] of Object.entries({ ...named, ...extra })) registry.add(schema, { id });
  return registry;
}
/** A schema with references to the named ones. */
function schemaOf(schema: z.ZodType, io: Direction): Json {
  const name = Object.entries(named).find(([, one]) => one === schema)?.[0];
  if (name) return refTo(name);
  const { schemas } = z.toJSONSchema(registryOf({ This: schema }), { io, unrepresentable: "any", uri: (id) => `#/components/schemas/${id}` });
  return stripped(schemas["This"] as Json);
}
function namedSchemas(): Record<string, Json> {
  const { schemas } = z.toJSONSchema(registryOf(), { io: "input", unrepresentable: "any", uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, stripped(schema as Json)]));
}
function stripped({ $schema: _schema, $id: _id, ...rest }: Json): Json {
  return rest;
}
