/**
 * What a release does to the registry before any process of it runs: look whether its schemas fit all that were registered
 * before, and register them.
 *
 * B1. A subject a topic, named `<topic>-value`, under BACKWARD_TRANSITIVE: who has this release reads what every older one wrote.
 * B2. Looking changes nothing. Registering what is registered already changes nothing either.
 */
import { COMPATIBILITY, SchemaType } from "@kafkajs/confluent-schema-registry";
import { canonicalJson } from "../../core/json.ts";
import { LoopledgerError } from "../../core/errors.ts";
import { type TopicKind, topicKinds, topicSchema } from "../../core/topics/topic-schemas.ts";
import { messageOf, type RegistryClient, type RegistryLog } from "./client.ts";

export interface SubjectState {
  readonly subject: string;
  /** `new`: no schema yet · `registered`: this release's is there · `changed`: it fits · `refused`: it does not. */
  readonly state: "new" | "registered" | "changed" | "refused";
  /** Of this release's schema; null where it is not registered. */
  readonly id: number | null;
  /** The subject's own level; null where it has none. */
  readonly compatibility: string | null;
  readonly detail: string;
}
export interface RegistryPublisher {
  /** How this release's schemas stand, by topic prefix; nothing is changed. Throws `registry_unreachable`. */
  checkSchemas(prefix: string): Promise<readonly SubjectState[]>;
  /** Registers them, each under the right level. Throws `schema_incompatible` before anything is registered, `registry_unreachable`. */
  publishSchemas(prefix: string): Promise<readonly SubjectState[]>;
}

const LEVEL = COMPATIBILITY.BACKWARD_TRANSITIVE;
export const subjectOf = (topic: string): string => `${topic}-value`;

const texts = new Map<TopicKind, string>();
/** The same text in every process of a release, because a registry looks schemas up by it. */
export function schemaText(kind: TopicKind): string {
  const text = texts.get(kind) ?? canonicalJson(topicSchema(kind));
  texts.set(kind, text);
  return text;
}

export function createPublisher(client: RegistryClient, log: RegistryLog): RegistryPublisher {
  const checkSchemas = async (prefix: string): Promise<SubjectState[]> => {
    const states: SubjectState[] = [];
    for (const kind of topicKinds) states.push(await lookAt(client, subjectOf(`${prefix}.${kind}`), kind));
    return states;
  };
  return {
    checkSchemas,
    publishSchemas: async (prefix) => {
      const before = await checkSchemas(prefix);
      const refused = before.filter(({ state }) => state === "refused");
      if (refused.length > 0) throw new LoopledgerError("schema_incompatible", refused.map(({ detail }) => detail).join(" "));
      for (const [i, kind] of topicKinds.entries()) await publish(client, { kind, found: before[i] as SubjectState, log });
      return checkSchemas(prefix);
    },
  };
}

async function lookAt({ send, registry, ask, address }: RegistryClient, subject: string, kind: TopicKind): Promise<SubjectState> {
  const schema = schemaText(kind);
  const path = encodeURIComponent(subject);
  const level = await send("GET", `/config/${path}`);
  const compatibility = typeof level.body["compatibilityLevel"] === "string" ? level.body["compatibilityLevel"] : null;
  const found = { subject, compatibility, id: null };
  try {
    const id = await ask(() => registry.getRegistryIdBySchema(subject, { type: SchemaType.JSON, schema }));
    const detail = compatibility === LEVEL ? `${subject} has this release's schema, id ${id}.` : `${subject} has this release's schema, but its compatibility is ${compatibility ?? "not set"}; it has to be ${LEVEL}.`;
    return { ...found, state: "registered", id, detail };
  } catch (error) {
    if (error instanceof LoopledgerError) throw error;
  }
  const fits = await send("POST", `/compatibility/subjects/${path}/versions?verbose=true`, { schemaType: "JSON", schema });
  if (fits.status === 404) return { ...found, state: "new", detail: `${subject} has no schema yet.` };
  if (fits.body["is_compatible"] === true) return { ...found, state: "changed", detail: `${subject} does not have this release's schema yet; it fits.` };
  const why = [fits.body["messages"] ?? fits.body["message"] ?? []].flat().map(String).join("; ");
  return { ...found, state: "refused", detail: `${subject} at ${address} has schemas that this release's does not fit${why === "" ? "" : `: ${why}`}.` };
}

interface Publication { readonly kind: TopicKind; readonly found: SubjectState; readonly log: RegistryLog }

async function publish({ send, registry, ask }: RegistryClient, { kind, found, log }: Publication): Promise<void> {
  const { subject, state, compatibility } = found;
  if (compatibility !== LEVEL && state !== "new") {
    log.warn({ subject, compatibility }, `schema registry: the compatibility is set to ${LEVEL}`);
    await send("PUT", `/config/${encodeURIComponent(subject)}`, { compatibility: LEVEL });
  }
  if (state === "registered") return;
  try {
    await ask(() => registry.register({ type: SchemaType.JSON, schema: schemaText(kind) }, { subject, compatibility: LEVEL }));
  } catch (error) {
    if (error instanceof LoopledgerError) throw error;
    throw new LoopledgerError("schema_incompatible", `${subject} was not registered: ${messageOf(error)}.`, { cause: error });
  }
}
