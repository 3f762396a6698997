/**
 * The JSON Schemas of the topics that others read and write, made from the schemas by which records are judged.
 *
 * T1. One `oneOf` a topic; the title of each branch says what it is: for the ledger the record's type.
 * T2. Objects are closed: a field that this release does not know is refused by its own readers too.
 * T3. Names inside a schema do not depend on what else stands in it, so an added event changes nothing but its own branch.
 */
import { z } from "zod";
import { envelope } from "../events/envelope.ts";
import { json } from "../events/fields.ts";
import { goal, leaf } from "../events/goal.ts";
import { catalogue } from "../events/index.ts";
import { statusView } from "../session/status-schema.ts";

/** Last part of the topic's name, after the prefix and a dot. */
export type TopicKind = "ledger" | "goals" | "status";
export const topicKinds: readonly TopicKind[] = ["ledger", "goals", "status"];

/** null for topics whose records have no schema. */
export function topicKindOf(topic: string): TopicKind | null {
  const last = topic.slice(topic.lastIndexOf(".") + 1);
  return topicKinds.find((kind) => kind === last) ?? null;
}

interface Branch { readonly title: string; readonly schema: z.ZodType }

function branchesOf(kind: TopicKind): readonly Branch[] {
  switch (kind) {
    case "ledger":
      return Object.entries(catalogue).flatMap(([type, { versions }]) => versions.map((data, i) => ({
        title: type, schema: envelope.extend({ type: z.literal(type), typeVersion: z.literal(i + 1), data: data as z.ZodType }),
      })));
    case "goals":
      return [{ title: "goal", schema: goal }];
    case "status":
      return [{ title: "status", schema: statusView }];
  }
}

/** Draft 7, with `$schema` and `title`: registries refuse one that has neither `$schema` nor `properties`. */
export function topicSchema(kind: TopicKind): Readonly<Record<string, unknown>> {
  const names = z.registry<{ id?: string; title?: string }>();
  names.add(json, { id: "json" });
  names.add(leaf, { id: "leaf" });
  const schemas = branchesOf(kind).map(({ title, schema }) => {
    names.add(schema, { title });
    return schema;
  });
  const { $schema, anyOf, definitions } = z.toJSONSchema(z.union(schemas), { target: "draft-7", metadata: names });
  return { $schema, title: kind, oneOf: anyOf, ...(definitions !== undefined && { definitions }) };
}
