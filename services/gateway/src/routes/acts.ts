/** Acts of people and programs on a session; each answers with the status after it. */
import type { Act } from "@loopledger/shared/core/session/acts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { act } from "../acting.ts";
import { askedReconciliation } from "../reconciling.ts";
import type { ProblemCode } from "../problems.ts";
import { answers, bodies, params, queries } from "../schemas.ts";
import { type App, type Service, openSession, statusText } from "../service.ts";
import { keyOf, sendJson } from "./sessions.ts";

interface ActRoute<S extends z.ZodType> {
  readonly path: string;
  readonly summary: string;
  readonly body: S;
  readonly problems?: readonly ProblemCode[];
  /** The act that a body asks for. */
  readonly act: (body: z.output<S>) => Act;
}

export function actRoutes(app: App, service: Service): void {
  const add = <S extends z.ZodType>(route: ActRoute<S>): void => addAct(app, service, route);
  add({
    path: "cancel", summary: "Cancel: no new dispatch, no new effect; it ends once nothing is unsettled.", body: bodies.cancel,
    act: ({ reason = "" }) => ({ type: "cancel_requested", data: { reason } }),
  });
  add({
    path: "pause", summary: "Pause after the open cycle, or at once with now.", body: bodies.pause,
    act: ({ now = false, reason = "" }) => ({ type: "pause_requested", data: { now, reason } }),
  });
  add({
    path: "resume", summary: "Go on after a pause, a suspension or a hand-off; acceptCheck takes the changed check as the pinned one.", body: bodies.resume,
    act: ({ acceptCheck = false, reason = "" }) => ({ type: "resumed", data: { acceptCheck, reason } }),
  });
  add({ path: "guidance", summary: "Advice for the next build.", body: bodies.guidance, act: ({ text }) => ({ type: "guidance", data: { text } }) });
  add({ path: "budget", summary: "Add to the ceilings.", body: bodies.budget, act: (added) => ({ type: "budget_raised", data: added }) });
  add({
    path: "checkpoints", summary: "Ask for a human decision before the session goes on.", body: bodies.checkpoint,
    act: ({ reason }) => ({ type: "checkpoint_requested", data: { reason } }),
  });
  addReconciliation(app, service);
}

const common: readonly ProblemCode[] = ["unknown_session", "held", "after_end", "idempotency_conflict"];

function addAct<S extends z.ZodType>(app: App, service: Service, route: ActRoute<S>): void {
  app.route({
    method: "POST", url: `/v1/sessions/:id/${route.path}`, schema: { params: params.session, querystring: queries.none, body: route.body as z.ZodType },
    config: { notes: { summary: route.summary, answers: { 200: answers.status }, problems: [...common, ...(route.problems ?? ["not_owed"])] } },
    handler: (request, reply) => perform(service, { request, reply, act: route.act(request.body as z.output<S>) }),
  });
}

interface Performing { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly act: Act }
export async function perform(service: Service, { request, reply, act: asked }: Performing): Promise<FastifyReply> {
  const { id } = request.params as { readonly id: string };
  return sendJson(reply, statusText(await act(service, id, { act: asked, idempotencyKey: keyOf(request.headers["idempotency-key"]) })));
}

function addReconciliation(app: App, service: Service): void {
  app.route({
    method: "POST", url: "/v1/sessions/:id/reconciliations", schema: { params: params.session, querystring: queries.none, body: bodies.reconciliation },
    config: { notes: {
      summary: "Settle an effect of which nobody knows whether it happened. did_not_happen waits for the call window, or for a look that fences.",
      answers: { 200: answers.status }, problems: [...common, "unknown_effect", "not_unknown", "window_open", "happened"],
    } },
    handler: async (request, reply) => {
      const state = await openSession(service, request.params.id);
      const asked = await askedReconciliation(service, state, request.body);
      return asked ? perform(service, { request, reply, act: asked }) : sendJson(reply, statusText(state));
    },
  });
}
