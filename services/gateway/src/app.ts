/**
 * The web server around the routes: who may call, what a body is, and a problem document for everything that is refused,
 * whichever part of the server refuses it.
 */
import { type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { z } from "zod";
import { checked, takeBodies } from "./bodies.ts";
import { RateLimiter, refuseStrangers } from "./guard.ts";
import { openApiOf } from "./openapi.ts";
import { Problem, documentOf, problemOf } from "./problems.ts";
import { actRoutes } from "./routes/acts.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { deadLetterRoutes } from "./routes/dead-letters.ts";
import { operationRoutes } from "./routes/operations.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { streamRoutes } from "./routes/streams.ts";
import type { App, Service } from "./service.ts";
import type { RouteMap } from "./route-map.ts";
import { makeRouteMap } from "./route-map.ts";

/** Bytes of a body, where a route does not say less. */
const bodyMax = 1_048_576;

export function buildApp(service: Service): App {
  const app: App = fastify({
    bodyLimit: bodyMax, forceCloseConnections: true, requestTimeout: 30_000, logger: false, exposeHeadRoutes: true,
    routerOptions: { maxParamLength: 1_024, ignoreTrailingSlash: false },
    frameworkErrors: (error, _request, reply) => void answerProblem(service, reply as FastifyReply, error),
  }).withTypeProvider<ZodTypeProvider>();
  const map = makeRouteMap();
  app.setValidatorCompiler(({ schema, httpPart }) => (value: unknown) => validated(schema as z.ZodType, httpPart === "body" ? (value ?? {}) : value));
  app.setErrorHandler((error, _request, reply) => answerProblem(service, reply, error));
  app.setNotFoundHandler((request, reply) => answerProblem(service, reply, notFound(map, request)));
  takeBodies(app);
  guard(app, service);
  app.addHook("onRoute", (route) => map.add(route));
  sessionRoutes(app, service);
  actRoutes(app, service);
  approvalRoutes(app, service);
  deadLetterRoutes(app, service);
  streamRoutes(app, service);
  operationRoutes(app, service, () => openApiOf(map.routes()));
  return app;
}

function validated(schema: z.ZodType, value: unknown): { value: unknown } | { error: Error } {
  try {
    return { value: checked(schema, value) };
  } catch (error) {
    return { error: error as Error };
  }
}

function guard(app: App, service: Service): void {
  const limiter = new RateLimiter(service.engine.clock, service.settings.rateLimit);
  app.addHook("onRequest", async (request) => {
    service.counters.requests.add();
    refuseStrangers(request.headers);
    limiter.take(request.ip);
    if (service.isStopping) throw new Problem("stopping", "The server is stopping.");
  });
  app.addHook("onSend", async (_request, reply) => {
    reply.header("x-content-type-options", "nosniff");
    if (!reply.hasHeader("cache-control")) reply.header("cache-control", "no-store");
  });
}

function notFound(map: RouteMap, request: FastifyRequest): Problem {
  const path = request.url.split("?")[0] ?? "";
  const methods = map.methodsOf(path);
  if (methods.length === 0) return new Problem("not_found", `There is nothing at ${path.slice(0, 300)}.`);
  return new Problem("method_not_allowed", `${path.slice(0, 300)} does not take ${request.method}.`, { headers: { allow: methods.join(", ") } });
}

function answerProblem(service: Service, reply: FastifyReply, error: unknown): FastifyReply {
  service.counters.refusals.add();
  const known = problemOf(error);
  if (!known) service.engine.log.error({ err: error }, "gateway: a request failed");
  const { status, headers, body } = documentOf(known ?? new Problem("internal", "The request failed for a reason that nobody foresaw."));
  return reply.status(status).headers(headers).send(body);
}
