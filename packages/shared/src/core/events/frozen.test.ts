import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { canonicalJson } from "../json.ts";
import { envelope } from "./envelope.ts";
import { catalogue, eventTypes } from "./index.ts";

/** Digest of the JSON Schema of every (type, version) as it was released. */
const frozen = JSON.parse(readFileSync(new URL("./frozen.json", import.meta.url), "utf8")) as Record<string, string>;

const digestOfSchema = (schema: z.ZodType): string => `sha256:${hash("sha256", canonicalJson(z.toJSONSchema(schema, { target: "draft-7", io: "input" })))}`;
const now = Object.fromEntries([
  ["envelope/1", digestOfSchema(envelope)],
  ...eventTypes.flatMap((type) => (catalogue[type].versions as readonly z.ZodType[]).map((schema, i) => [`${type}/${i + 1}`, digestOfSchema(schema)])),
]) as Record<string, string>;

describe("a released schema never changes: a change is a new version, with a lift from the one before", () => {
  it.each(Object.entries(frozen))("%s is as it was released", (name, digest) => {
    expect(now[name], `${name} differs from its release: add a version instead`).toBe(digest);
  });
  it("every schema of this release is frozen", () => {
    expect(Object.keys(now).filter((name) => frozen[name] === undefined), `add to frozen.json: ${JSON.stringify(now)}`).toEqual([]);
  });
  it("a changed field changes the digest", () => {
    const schema = z.strictObject({ a: z.string() });
    expect(digestOfSchema(schema)).not.toBe(digestOfSchema(z.strictObject({ a: z.string().optional() })));
    expect(digestOfSchema(schema)).not.toBe(digestOfSchema(z.object({ a: z.string() })));
  });
});
