/** Submitting goals, and reading sessions. */
import type { Seq, SessionId } from "@loopledger/shared/core/brand";
import { explain } from "@loopledger/shared/core/session/explain";
import { goalBytesMax } from "@loopledger/shared/core/events/goal";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import type { Owner, SessionState } from "@loopledger/shared/core/session/state";
import { submitGoal } from "@loopledger/shared/runtime";
import type { FastifyReply } from "fastify";
import { checkedGoal } from "../bodies.ts";
import { eventsPage } from "../events.ts";
import { listSessions } from "../lists.ts";
import { patient } from "../patience.ts";
import { Problem } from "../problems.ts";
import { answers, bodies, params, queries } from "../schemas.ts";
import { type App, type Service, actorOf, openAtLeast, openSession, statusText } from "../service.ts";

export function sessionRoutes(app: App, service: Service): void {
  app.route({
    method: "POST", url: "/v1/sessions", bodyLimit: goalBytesMax,
    config: { notes: {
      summary: "Submit a goal. An equal goal under the same id, or the same Idempotency-Key, is the same session.",
      body: bodies.goal, answers: { 201: answers.status, 200: answers.status }, problems: ["invalid_goal", "session_conflict", "payload_too_large", "unsupported_media_type"],
    } },
    // The body is read by hand: its mistakes are those of a goal.
    schema: { querystring: queries.none },
    handler: async (request, reply) => {
      const { state, isNew } = await submit(service, request.body, request.headers["idempotency-key"]);
      reply.header("location", `/v1/sessions/${encodeURIComponent(state.sessionId)}`);
      return sendJson(reply.status(isNew ? 201 : 200), statusText(state));
    },
  });
  app.route({
    method: "GET", url: "/v1/sessions", schema: { querystring: queries.list },
    config: { notes: { summary: "Sessions, newest first.", answers: { 200: answers.sessions }, problems: ["invalid_cursor"] } },
    handler: async (request, reply) => {
      const { items, next } = await listSessions(service.engine, request.query);
      return sendJson(reply, `{"items":[${items.map((item) => item.document).join(",")}],"next":${JSON.stringify(next)}}`);
    },
  });
  app.route({
    method: "GET", url: "/v1/sessions/:id", schema: { params: params.session, querystring: queries.status },
    config: { notes: { summary: "A session's status, at least as of a seq.", answers: { 200: answers.status }, problems: ["unknown_session", "seq_ahead"] } },
    handler: async (request, reply) => sendJson(reply, statusText(await openAtLeast(service, request.params.id, request.query.atLeast ?? 0))),
  });
  readingRoutes(app, service);
}

function readingRoutes(app: App, service: Service): void {
  app.route({
    method: "GET", url: "/v1/sessions/:id/events", schema: { params: params.session, querystring: queries.events },
    config: { notes: { summary: "A session's accepted records after a seq; with void=true the refused ones too.", answers: { 200: answers.events }, problems: ["unknown_session"] } },
    handler: async (request) => eventsPage(service, await openSession(service, request.params.id), request.query),
  });
  app.route({
    method: "GET", url: "/v1/sessions/:id/explain", schema: { params: params.session, querystring: queries.explain },
    config: { notes: { summary: "The six answers about a session, each with the seq that it rests on, and why it stands still.", answers: { 200: answers.any }, problems: ["unknown_session", "seq_ahead"] } },
    handler: async (request) => explained(service, request.params.id, request.query.at),
  });
  app.route({
    method: "GET", url: "/v1/sessions/:id/blobs/:digest", schema: { params: params.blob, querystring: queries.none },
    config: { notes: { summary: "A payload that was too large for a record, or what a cycle printed.", answers: { 200: null }, problems: ["unknown_session", "unknown_blob"] } },
    handler: async (request, reply) => {
      const { sessionId } = await openSession(service, request.params.id);
      const content = await service.engine.blobs.get(sessionId, request.params.digest as never);
      if (!content) throw new Problem("unknown_blob", `The session has no payload ${request.params.digest}.`);
      return reply.type("application/octet-stream").send(Buffer.from(content));
    },
  });
}

async function submit(service: Service, body: unknown, idempotencyKey: string | string[] | undefined): Promise<{ state: SessionState; isNew: boolean }> {
  const { engine } = service;
  const goal = checkedGoal(body);
  const key = keyOf(idempotencyKey);
  const id = goal.id ?? (key === undefined ? `s-${engine.ids.uuid()}` : `k-${engine.ids.sha256(`session\n${key}`).slice(0, 32)}`);
  const { kind, state } = await submitGoal(patient(engine), goal, { actor: actorOf(service), id: id as SessionId });
  if (kind === "conflict") {
    const isKeyed = goal.id === undefined && key !== undefined;
    throw new Problem(isKeyed ? "idempotency_conflict" : "session_conflict", isKeyed ? "This Idempotency-Key was used for another goal." : `The session ${id} was started with another goal.`);
  }
  if (!state.submission) throw new Problem("held", `The session ${id} holds a record that this release does not know: ${state.hold?.detail ?? "its goal was not accepted"}.`);
  return { state, isNew: kind === "new" };
}

/** Throws `invalid_request` for a key that is no name. */
export function keyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== "string" || header.trim() === "" || header.length > 256) throw new Problem("invalid_request", "Idempotency-Key has 1 to 256 characters.");
  return header;
}

async function explained(service: Service, id: string, at: number | undefined): Promise<object> {
  const { engine } = service;
  const state = await openSession(service, id);
  if (at !== undefined && at > state.seq) throw new Problem("seq_ahead", `The session is at seq ${state.seq}, not yet at ${at}.`);
  const entries = (await engine.ledger.readSession(state.sessionId)).map((entry) => ({
    ...entry, parsed: parseRecord(entry.value), text: entry.value ?? "", verified: "off" as const,
  }));
  const looks = { alive: "live", dead: "gone", elsewhere: "unknown" } as const;
  const asking = { sessionId: state.sessionId, sha256: engine.ids.sha256 };
  if (at !== undefined) return explain(entries, { ...asking, at: at as Seq });
  return explain(entries, { ...asking, look: (owner: Owner) => looks[engine.host.look(owner.host)] });
}

/** JSON that is text already. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.type("application/json; charset=utf-8").send(text);
}
