/** The schemas on a real registry, and where there is none. */
import { randomUUID } from "node:crypto";
import { schemasContract } from "@loopledger/shared/contracts";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import { topicKinds, topicSchema } from "@loopledger/shared/core/topics/topic-schemas";
import { createVirtualClock } from "@loopledger/shared/memory";
import { createPlainSchemas, openRegistrySchemas, type RegistrySchemas } from "@loopledger/shared/registry";
import { createSystemClock } from "@loopledger/shared/system";
import { dataDefaults, recordOf } from "@loopledger/shared/testing";
import * as vitest from "vitest";
import { registryUrl } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { openDoor } from "./registry-door.ts";

const { describe, expect, it, afterAll, afterEach, beforeAll } = vitest;
const clock = createSystemClock();
const silent = { warn: () => undefined };
const url = await registryUrl();
const open = (at = url): RegistrySchemas => openRegistrySchemas({ url: at, clock, log: silent });
const wire = (id: number, payload: string): Uint8Array => {
  const bytes = Buffer.alloc(5 + Buffer.byteLength(payload));
  bytes.writeUInt32BE(id, 1);
  bytes.write(payload, 5);
  return bytes;
};

async function call(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const headers = { "content-type": "application/vnd.schemaregistry.v1+json" };
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: await answer.json().catch(() => null) };
}

const shared = `test-${randomUUID()}`;
const prefixes: string[] = [];
function newPrefix(): string {
  const prefix = `test-${randomUUID()}`;
  prefixes.push(prefix);
  return prefix;
}
async function removeSubjects(prefix: string): Promise<void> {
  for (const kind of topicKinds) {
    await call("DELETE", `/subjects/${prefix}.${kind}-value`);
    await call("DELETE", `/subjects/${prefix}.${kind}-value?permanent=true`);
  }
}
afterEach(async () => {
  for (const prefix of prefixes.splice(0)) await removeSubjects(prefix);
});

// Registering takes a registry seconds on a busy machine, so what only reads and writes shares one release.
beforeAll(async () => void (await open().publishSchemas(shared)), 120_000);
afterAll(() => removeSubjects(shared));
vitest.vi.setConfig({ testTimeout: 120_000 });

schemasContract(vitest, "no registry", async () => ({ prefix: "any", open: async () => createPlainSchemas(), close: async () => undefined }));
schemasContract(vitest, "a registry", async () => ({ prefix: shared, open: async () => open(), close: async () => undefined }));

describe("a release's schemas", () => {
  it("are new, then registered, each under its own name, and publishing them again changes nothing", async () => {
    const prefix = newPrefix();
    const schemas = open();
    expect((await schemas.checkSchemas(prefix)).map(({ state }) => state)).toEqual(["new", "new", "new"]);
    const published = await schemas.publishSchemas(prefix);
    expect(published.map(({ subject, state, compatibility }) => [subject, state, compatibility])).toEqual(
      topicKinds.map((kind) => [`${prefix}.${kind}-value`, "registered", "BACKWARD_TRANSITIVE"]),
    );
    expect(await open().publishSchemas(prefix)).toEqual(published);
    expect((await call("GET", `/subjects/${prefix}.ledger-value/versions`)).body).toEqual([1]);
  });

  it("have titles by which others find a record's type", async () => {
    const prefix = newPrefix();
    await open().publishSchemas(prefix);
    const { body } = await call("GET", `/subjects/${prefix}.ledger-value/versions/latest`);
    const registered = JSON.parse((body as { schema: string }).schema);
    expect(registered).toEqual(JSON.parse(JSON.stringify(topicSchema("ledger"))));
    const titles = registered.oneOf.map((branch: { title: string }) => branch.title);
    expect(titles).toEqual(expect.arrayContaining(["goal_submitted", "dispatched", "claimed", "tool_requested", "receipt"]));
    for (const branch of registered.oneOf) expect([branch.title, branch.additionalProperties]).toEqual([branch.properties.type.const, false]);
  });

  it("fit what an older release with fewer records has registered, and take its place", async () => {
    const prefix = newPrefix();
    const older = topicSchema("ledger") as { oneOf: object[] };
    const schema = JSON.stringify({ ...older, oneOf: older.oneOf.slice(0, -1) });
    await call("POST", `/subjects/${prefix}.ledger-value/versions`, { schemaType: "JSON", schema });
    const schemas = open();
    expect((await schemas.checkSchemas(prefix)).map(({ state }) => state)).toEqual(["changed", "new", "new"]);
    expect((await schemas.publishSchemas(prefix)).map(({ state, compatibility }) => [state, compatibility])).toEqual(
      topicKinds.map(() => ["registered", "BACKWARD_TRANSITIVE"]),
    );
  });

  it("are refused, before anything is registered, where a newer release has records that they do not have", async () => {
    const prefix = newPrefix();
    const ours = topicSchema("ledger") as { oneOf: object[] };
    const later = { type: "object", title: "later", additionalProperties: false, properties: { type: { type: "string", const: "later" } }, required: ["type"] };
    const schema = JSON.stringify({ ...ours, oneOf: [...ours.oneOf, later] });
    await call("POST", `/subjects/${prefix}.ledger-value/versions`, { schemaType: "JSON", schema });
    await call("PUT", `/config/${prefix}.ledger-value`, { compatibility: "BACKWARD_TRANSITIVE" });
    const schemas = open();
    expect((await schemas.checkSchemas(prefix))[0]).toMatchObject({ state: "refused", id: null });
    await expect(schemas.publishSchemas(prefix)).rejects.toMatchObject({ code: "schema_incompatible" });
    expect((await call("GET", `/subjects/${prefix}.goals-value/versions`)).status).toBe(404);
  });

  it("have to be published before anything is written, and a process that was too early goes on then", async () => {
    const prefix = newPrefix();
    const schemas = open();
    await expect(schemas.encode(`${prefix}.ledger`, "{}")).rejects.toMatchObject({ code: "schema_unpublished" });
    await open().publishSchemas(prefix);
    expect((await schemas.encode(`${prefix}.ledger`, "{}"))[0]).toBe(0);
  });
});

describe("what a registry does not know", () => {
  it("is thrown and not taken for no record, as often as it is asked, until it is known", async () => {
    const prefix = newPrefix();
    const schemas = open();
    for (let i = 0; i < 2; i++) await expect(schemas.decode("t.ledger", wire(999_999_999, "{}"))).rejects.toMatchObject({ code: "unknown_schema" });
    const [ledger] = await open().publishSchemas(prefix);
    expect(await schemas.decode("t.ledger", wire(ledger?.id as number, "{}"))).toBe("{}");
  });

  it("is no record of ours where its schema is of another kind", async () => {
    const prefix = newPrefix();
    const avro = JSON.stringify({ type: "record", name: "other", fields: [{ name: "a", type: "string" }] });
    const { body } = await call("POST", `/subjects/${prefix}.ledger-value/versions`, { schema: avro });
    expect(await open().decode(`${prefix}.ledger`, wire((body as { id: number }).id, "{}"))).toBeNull();
  });
});

describe("an id that stands for another schema", () => {
  it("changes nothing about a record: the core's own schemas judge the text", async () => {
    const prefix = newPrefix();
    const other = JSON.stringify({ $schema: "http://json-schema.org/draft-07/schema#", type: "object", title: "anything" });
    const { body } = await call("POST", `/subjects/${prefix}.ledger-value/versions`, { schemaType: "JSON", schema: other });
    const { id } = body as { id: number };
    const schemas = open();
    const record = JSON.stringify(recordOf("guidance", dataDefaults.guidance()));
    expect(await schemas.decode(`${prefix}.ledger`, wire(id, record))).toBe(record);
    expect(parseRecord(await schemas.decode(`${prefix}.ledger`, wire(id, record))).kind).toBe("record");
    expect(parseRecord(await schemas.decode(`${prefix}.ledger`, wire(id, '{"any":"thing"}'))).kind).toBe("malformed");
  });
});

describe("without a registry", () => {
  it("what was asked for before goes on, and what was not is transient", async () => {
    const topic = `${shared}.ledger`;
    const door = await openDoor(url);
    const schemas = open(door.url);
    const bytes = await schemas.encode(topic, '{"a":1}');
    expect(await schemas.decode(topic, bytes)).toBe('{"a":1}');
    await door.shut();
    expect(await schemas.encode(topic, '{"a":1}')).toEqual(bytes);
    expect(await schemas.decode(topic, bytes)).toBe('{"a":1}');
    const refused = { code: "registry_unreachable", then: "retry" };
    await expect(schemas.decode(topic, wire(999_999_999, "{}"))).rejects.toMatchObject(refused);
    await expect(schemas.encode(`${shared}.status`, "{}")).rejects.toMatchObject(refused);
    await expect(schemas.checkSchemas(shared)).rejects.toMatchObject(refused);
    await expect(schemas.publishSchemas(shared)).rejects.toMatchObject(refused);
    expect(await schemas.decode(topic, Buffer.from("{}"))).toBe("{}");
  });

  it("nobody waits longer than the deadline for one that is silent, and then it is asked again", async () => {
    const door = await openDoor(url);
    const time = createVirtualClock();
    const schemas = openRegistrySchemas({ url: door.url, clock: time, log: silent });
    door.silent(true);
    const asked = [schemas.encode(`${shared}.ledger`, "{}"), schemas.decode("t.ledger", wire(999_999_998, "{}")), schemas.checkSchemas(shared)];
    const outcomes = asked.map((one) => one.then(() => "answered", (error: { code: string }) => error.code));
    await until(() => door.count() >= asked.length, { what: "the requests to be under way" });
    await time.advance(60_000);
    expect(await Promise.all(outcomes)).toEqual(asked.map(() => "registry_unreachable"));
    door.silent(false);
    expect(await schemas.encode(`${shared}.ledger`, "{}")).toEqual(await open().encode(`${shared}.ledger`, "{}"));
    await door.close();
  });
});
