/** Human decisions: what waits for one, and the answers. */
import { type Act, decisionOf } from "@loopledger/shared/core/session/acts";
import { type CheckpointView, checkpointView, checkpointViews, reviewRequest } from "@loopledger/shared/core/session/checkpoint-view";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { listSessions } from "../lists.ts";
import { Problem } from "../problems.ts";
import { answers, bodies, params, queries } from "../schemas.ts";
import { type App, type Service, openSession } from "../service.ts";
import { perform } from "./acts.ts";

export function approvalRoutes(app: App, service: Service): void {
  app.route({
    method: "GET", url: "/v1/approvals", schema: { querystring: queries.none },
    config: { notes: { summary: "What waits for a human decision, oldest first.", answers: { 200: answers.approvals } } },
    handler: async () => ({ items: await pendingOf(service), next: null }),
  });
  app.route({
    method: "GET", url: "/v1/sessions/:id/checkpoints/:checkpoint", schema: { params: params.checkpoint, querystring: queries.none },
    config: { notes: { summary: "A checkpoint, and the request for a review as markdown.", answers: { 200: answers.checkpoint }, problems: ["unknown_session", "unknown_checkpoint"] } },
    handler: async (request) => {
      const state = await openSession(service, request.params.id);
      const view = viewOf(service, state, request.params.checkpoint);
      if (!view) throw unknownCheckpoint(state, request.params.checkpoint);
      return { ...view, markdown: reviewRequest(state, view) };
    },
  });
  app.route({
    method: "POST", url: "/v1/sessions/:id/decisions/:checkpoint", schema: { params: params.checkpoint, querystring: queries.none, body: bodies.decision },
    config: { notes: {
      summary: "Decide. The answer counts for the digest of what the checkpoint asks for; an equal repeat is answered, a contradicting one is refused.",
      answers: { 200: answers.status }, problems: ["unknown_session", "unknown_checkpoint", "key_conflict", "forbidden", "not_owed", "after_end", "held"],
    } },
    handler: async (request, reply) => {
      const state = await openSession(service, request.params.id);
      return perform(service, { request, reply, act: askedDecision(service, state, { ...request.body, checkpoint: request.params.checkpoint }) });
    },
  });
}

type Asked = (typeof bodies)["decision"]["_output"] & { readonly checkpoint: string };

/** The answer, bound to what is asked; one that comes before its request has to say what it is an answer to. */
function askedDecision(service: Service, state: SessionState, { checkpoint, decision, action, comment = "", digest }: Asked): Act {
  const owed = state.requestOwed?.content as { readonly checkpoint?: unknown; readonly digest?: unknown } | undefined;
  const asked = viewOf(service, state, checkpoint)?.digest ?? (owed?.checkpoint === checkpoint ? String(owed.digest) : undefined);
  const named = digest ?? asked;
  if (named === undefined) throw unknownCheckpoint(state, checkpoint);
  return decisionOf({ checkpoint, decision, digest: named, comment, action });
}

function viewOf({ engine }: Service, state: SessionState, checkpoint: string): CheckpointView | null {
  return checkpointView(state, checkpoint, { now: engine.logClock.nowAfter(state.at), sha256: engine.ids.sha256 });
}
function unknownCheckpoint(state: SessionState, checkpoint: string): Problem {
  const known = state.pending.length > 0 ? `; ${state.pending.join(", ")} wait` : "";
  return new Problem("unknown_checkpoint", `The session has no checkpoint ${checkpoint.slice(0, 128)}${known}.`);
}

/** Sessions looked through for what waits in them. */
const sessionsMax = 5_000;

async function pendingOf(service: Service): Promise<CheckpointView[]> {
  const { engine } = service;
  const views: CheckpointView[] = [];
  for (const id of await waitingIds(service)) {
    const state = await engine.folds.open(id);
    views.push(...checkpointViews(state, { now: engine.logClock.nowAfter(state.at), sha256: engine.ids.sha256 }).filter((one) => one.standing === "pending"));
  }
  return views.sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : a.seq - b.seq));
}

/** Those in memory and those that only the views know. */
async function waitingIds(service: Service): Promise<Set<SessionState["sessionId"]>> {
  const { folds } = service.engine;
  const ids = new Set(folds.ids().filter((id) => (folds.peek(id)?.pending.length ?? 0) > 0));
  for (let cursor: string | null = ""; cursor !== null && ids.size < sessionsMax; ) {
    const page = await listSessions(service.engine, { disposition: "waiting", limit: 500, ...(cursor !== "" && { cursor }) });
    for (const { sessionId } of page.items) ids.add(sessionId);
    cursor = page.next;
  }
  return ids;
}
