/**
 * Records in the registry's wire format.
 *
 * W1. The id of a schema is asked for once a process; from then on no registry is needed for it.
 * W2. A text comes out of the bytes as it went in, byte for byte: its digest is what a writer reads back by.
 * W3. What is not known is not guessed: an unknown id is thrown, so that its record waits; it is never taken for none of ours.
 * W4. Nobody registers on the way: a release's schemas are published before it runs.
 */
import { SchemaType } from "@kafkajs/confluent-schema-registry";
import { LoopledgerError } from "../../core/errors.ts";
import { type TopicKind, topicKindOf } from "../../core/topics/topic-schemas.ts";
import type { Schemas } from "../../ports/index.ts";
import { connectRegistry, messageOf, publishDeadlineMs, recordDeadlineMs, type RegistryClient, type RegistryOptions, statusOf } from "./client.ts";
import { createPublisher, type RegistryPublisher, schemaText, subjectOf } from "./publisher.ts";
import { readWire, textOf, writeWire } from "./wire.ts";

/** The port, and what a release does before it runs. */
export type RegistrySchemas = Schemas & RegistryPublisher;

/** Sends nothing yet: a registry that is away is told by the first call that needs it, with `registry_unreachable`. */
export function openRegistrySchemas(options: RegistryOptions): RegistrySchemas {
  const client = connectRegistry(options, recordDeadlineMs);
  const ids = new Map<string, Promise<number>>();
  const idOf = (topic: string, kind: TopicKind): Promise<number> => {
    const known = ids.get(topic);
    if (known !== undefined) return known;
    const asked = askForId(client, topic, kind);
    ids.set(topic, asked);
    // What failed is asked for again.
    asked.catch(() => ids.delete(topic));
    return asked;
  };
  return {
    encode: async (topic, text) => {
      const kind = topicKindOf(topic);
      return kind === null ? new TextEncoder().encode(text) : writeWire(await idOf(topic, kind), text);
    },
    decode: async (_topic, bytes) => {
      const wire = readWire(bytes);
      if (wire === null) return textOf(bytes);
      return (await isJson(client, wire.id)) ? textOf(wire.payload) : null;
    },
    ...createPublisher(connectRegistry(options, publishDeadlineMs), options.log),
  };
}

async function askForId({ registry, address, ask }: RegistryClient, topic: string, kind: TopicKind): Promise<number> {
  const subject = subjectOf(topic);
  try {
    return await ask(() => registry.getRegistryIdBySchema(subject, { type: SchemaType.JSON, schema: schemaText(kind) }));
  } catch (error) {
    if (error instanceof LoopledgerError) throw error;
    throw new LoopledgerError("schema_unpublished", `The schema of ${topic} in this release is not registered as ${subject} at ${address}: ${messageOf(error)}.`, { cause: error });
  }
}

/** Whether records of this schema are JSON. Throws `unknown_schema`, `registry_unreachable`. */
async function isJson({ registry, address, ask }: RegistryClient, id: number): Promise<boolean> {
  const known = registry.cache.getSchema(id);
  if (known) return known.type === SchemaType.JSON;
  try {
    await ask(() => registry.getSchema(id));
  } catch (error) {
    if (error instanceof LoopledgerError) throw error;
    if (statusOf(error) !== null) {
      throw new LoopledgerError("unknown_schema", `The schema registry at ${address} does not know the id ${id}: ${messageOf(error)}.`, { cause: error });
    }
    // A schema of another kind that the client cannot read: it is known, and it is none of ours.
    return false;
  }
  return registry.cache.getSchema(id)?.type === SchemaType.JSON;
}
