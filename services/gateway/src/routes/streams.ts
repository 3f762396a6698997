/** Server-sent events. Everything that can be wrong with a cursor is said before the stream begins. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { tellCause } from "../history.ts";
import { Problem } from "../problems.ts";
import { readAllFrom, readSessionFrom } from "../readings.ts";
import { params, queries } from "../schemas.ts";
import { type App, type Service, openSession } from "../service.ts";
import { type Reading, Stream } from "../stream.ts";

export function streamRoutes(app: App, service: Service): void {
  app.route({
    method: "GET", url: "/v1/sessions/:id/stream", exposeHeadRoute: false, schema: { params: params.session, querystring: queries.stream },
    config: { notes: {
      summary: "A session's events as server-sent events: all of them, or those after Last-Event-ID (or `after`), then what comes. The id is the seq.",
      answers: { 200: null }, problems: ["unknown_session", "invalid_cursor", "cursor_ahead", "too_many_streams"],
    } },
    handler: async (request, reply) => {
      const { sessionId } = await openSession(service, request.params.id);
      const reading = await readSessionFrom(service, sessionId, cursorOf(request, request.query.after));
      return stream(service, reply, reading);
    },
  });
  app.route({
    method: "GET", url: "/v1/stream", exposeHeadRoute: false, schema: { querystring: queries.stream },
    config: { notes: {
      summary: "All sessions' events from now on, or from Last-Event-ID (or `after`) on; after=start begins with the ledger. The id is opaque.",
      answers: { 200: null }, problems: ["invalid_cursor", "cursor_ahead", "cursor_gone", "too_many_streams"],
    } },
    handler: async (request, reply) => stream(service, reply, await readAllFrom(service, cursorOf(request, request.query.after))),
  });
}

/** A browser that comes back sends the header; the address that it began with says less. */
function cursorOf(request: FastifyRequest, after: string | undefined): string | undefined {
  const header = request.headers["last-event-id"];
  if (Array.isArray(header)) throw new Problem("invalid_cursor", "Last-Event-ID stands there more than once.");
  return header === undefined || header === "" ? after : header;
}

function stream(service: Service, reply: FastifyReply, reading: Reading): FastifyReply {
  const { engine, feed, settings, streams, counters } = service;
  if (streams.size >= settings.streamsMax) {
    throw new Problem("too_many_streams", `${streams.size} streams are open.`, { headers: { "retry-after": "5" } });
  }
  reply.hijack();
  const client = new Stream(reply.raw, {
    feed, stallMs: settings.stallMs, part: engine.supervision.part("gateway.streams"), key: engine.ids.uuid(),
    tellCause: (row) => tellCause(engine, row), dropped: () => counters.dropped.add(),
  });
  streams.add(client);
  client.run(reading)
    .catch((error: unknown) => {
      engine.log.error({ err: error }, "gateway: a stream failed");
      client.drop();
    })
    .finally(() => streams.delete(client));
  return reply;
}
