/** Health, figures and the description of the API. */
import { figuresText } from "@loopledger/shared/runtime";
import { answers, queries } from "../schemas.ts";
import type { App, Service } from "../service.ts";

export function operationRoutes(app: App, service: Service, openApi: () => object): void {
  const { engine, settings, counters, streams } = service;
  app.route({
    method: "GET", url: "/healthz", config: { notes: { summary: "The process lives.", answers: { 200: answers.health } } },
    handler: async () => ({ status: "ok" }),
  });
  app.route({
    method: "GET", url: "/readyz", config: { notes: { summary: "The process takes work; 503 names what does not.", answers: { 200: answers.readiness, 503: answers.readiness } } },
    handler: async (_request, reply) => {
      const faults = await unready(service);
      return reply.status(faults.length === 0 ? 200 : 503).send({ status: faults.length === 0 ? "ready" : "unready", faults });
    },
  });
  app.route({
    method: "GET", url: "/metrics", config: { notes: { summary: "Figures in Prometheus text.", answers: { 200: null } } },
    handler: async (_request, reply) => {
      return reply.type("text/plain; version=0.0.4; charset=utf-8").send(figuresText(counters.families(engine, streams.size)) + (await settings.figures()));
    },
  });
  let described: object | null = null;
  app.route({
    method: "GET", url: "/openapi.json", schema: { querystring: queries.none }, config: { notes: { summary: "This description.", answers: { 200: answers.any } } },
    handler: async () => {
      described ??= openApi();
      return described;
    },
  });
}

/** The names of what does not work now; that they could not all be told is one of them. */
async function unready({ engine, settings, isStopping }: Service): Promise<readonly string[]> {
  const own = [...(isStopping ? ["gateway"] : []), ...(engine.folds.following ? [] : ["folds"]), ...engine.supervision.faulty()];
  try {
    return [...new Set([...own, ...(await settings.unready())])];
  } catch (error) {
    engine.log.error({ err: error }, "gateway: readiness could not be told");
    return [...own, "readiness"];
  }
}
