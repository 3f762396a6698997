/** Records of the goals topic that could not be taken in: what there is, one of them whole, and putting one back. */
import { type Replayed, replayDeadLetter, shownLetter } from "@loopledger/shared/runtime";
import { Problem } from "../problems.ts";
import { answers, bodies, params, queries } from "../schemas.ts";
import type { App, Service } from "../service.ts";

export function deadLetterRoutes(app: App, service: Service): void {
  const { engine } = service;
  app.route({
    method: "GET", url: "/v1/dead-letters", schema: { querystring: queries.letters },
    config: { notes: { summary: "What of the goals topic could not be taken in, newest first; nothing where there is no topic.", answers: { 200: answers.letters }, problems: ["invalid_cursor"] } },
    handler: async (request) => engine.deadLetters?.list(request.query) ?? { items: [], next: null },
  });
  app.route({
    method: "GET", url: "/v1/dead-letters/:id", schema: { params: params.letter, querystring: queries.none },
    config: { notes: { summary: "A dead letter with its original bytes.", answers: { 200: answers.letter }, problems: ["unknown_dead_letter"] } },
    handler: async (request) => {
      const letter = await engine.deadLetters?.get(request.params.id);
      if (!letter) throw unknown(request.params.id);
      return shownLetter(letter);
    },
  });
  app.route({
    method: "POST", url: "/v1/dead-letters/:id/replay", schema: { params: params.letter, querystring: queries.none, body: bodies.replay },
    config: { notes: {
      summary: "Put the original, or a mended text, on the goals topic again. What becomes of it there is told by its session, or by another dead letter.",
      answers: { 200: answers.replayed }, problems: ["unknown_dead_letter", "dead_letter_cut"],
    } },
    handler: async (request) => answerOf(await replay(service, request.params.id, request.body), request.params.id),
  });
}

async function replay({ engine }: Service, id: string, { text, key }: (typeof bodies)["replay"]["_output"]): Promise<Replayed> {
  const { inbox, deadLetters, clock } = engine;
  if (!inbox || !deadLetters) return { kind: "unknown" };
  const bytes = (part: string): Uint8Array => Buffer.from(part);
  return replayDeadLetter({ inbox, deadLetters, clock }, id, {
    ...(text !== undefined && { value: bytes(text) }), ...(key !== undefined && { key: key === null ? null : bytes(key) }),
  });
}

function answerOf(replayed: Replayed, id: string) {
  switch (replayed.kind) {
    case "unknown": throw unknown(id);
    case "cut": throw new Problem("dead_letter_cut", `Of the original only the beginning was kept; it lies at offset ${replayed.source.offset} of ${replayed.source.topic}, partition ${replayed.source.partition}.`);
    case "replayed": return { id, replayed: true as const, at: replayed.at, topic: replayed.topic, before: replayed.before };
  }
}

function unknown(id: string): Problem {
  return new Problem("unknown_dead_letter", `There is no dead letter ${id.slice(0, 300)}.`);
}
