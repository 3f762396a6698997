import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SchemaStore, serveRegistry } from "@loopledger/infra/development-registry";
import { registryAt } from "@loopledger/infra/schemas";

let folder: string;
let store: SchemaStore;
let server: Server;
let url: string;

async function open(): Promise<void> {
  store = new SchemaStore(join(folder, "registry.db"));
  server = serveRegistry(store);
  await new Promise<void>((done) => {
    server.listen(0, "127.0.0.1", done);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
async function close(): Promise<void> {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  store.close();
}
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "loopledger-registry-"));
  await open();
});
afterEach(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`${url}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: await response.json() };
}
const person = (more: object = {}, required: readonly string[] = ["name"]): { readonly schemaType: string; readonly schema: string } => ({
  schemaType: "JSON",
  schema: JSON.stringify({ type: "object", properties: { name: { type: "string" }, ...more }, required, additionalProperties: false }),
});

describe("the development registry", () => {
  test("takes this release's schemas from the real client, knows them after a restart, and takes nothing twice", async () => {
    expect((await registryAt({ url }).checkSchemas("p")).map(({ state }) => state)).toEqual(["new", "new", "new"]);
    const published = await registryAt({ url }).publishSchemas("p");
    expect(published.map(({ subject, state, compatibility }) => [subject, state, compatibility])).toEqual(["ledger", "goals", "status"].map((kind) => [`p.${kind}-value`, "registered", "BACKWARD_TRANSITIVE"]));
    await close();
    await open();
    expect(await registryAt({ url }).publishSchemas("p")).toEqual(published);
    expect((await ask("GET", "/subjects/p.ledger-value/versions")).body).toEqual([1]);
  });

  test("gives one schema one id in every subject, counts a subject's versions, and finds them by number, as the latest and by their text", async () => {
    const first = await ask("POST", "/subjects/a/versions", person());
    expect(await ask("POST", "/subjects/b/versions", person())).toEqual(first);
    const second = await ask("POST", "/subjects/a/versions", person({ age: { type: "number" } }));
    expect(second.body).not.toEqual(first.body);
    expect((await ask("GET", "/subjects")).body).toEqual(["a", "b"]);
    expect(await ask("GET", "/subjects/a/versions/latest")).toMatchObject({ status: 200, body: { subject: "a", version: 2, schemaType: "JSON" } });
    expect(await ask("GET", "/subjects/a/versions/1")).toMatchObject({ body: { version: 1, ...(first.body as object) } });
    expect(await ask("POST", "/subjects/a", person())).toMatchObject({ status: 200, body: { version: 1 } });
    expect(await ask("POST", "/subjects/a", person({ other: {} }))).toMatchObject({ status: 404, body: { error_code: 40_403 } });
    expect(await ask("GET", `/schemas/ids/${(second.body as { id: number }).id}`)).toMatchObject({ status: 200, body: { schemaType: "JSON" } });
    expect((await ask("DELETE", "/subjects/a")).body).toEqual([1, 2]);
    expect(await ask("GET", "/subjects/a/versions/latest")).toMatchObject({ status: 404, body: { error_code: 40_401 } });
  });

  test("refuses what older records do not fit, where the subject's level says so", async () => {
    await ask("POST", "/subjects/a/versions", person());
    expect((await ask("GET", "/config/a")).status).toBe(404);
    expect(await ask("PUT", "/config/a", { compatibility: "backward_transitive" })).toEqual({ status: 200, body: { compatibility: "BACKWARD_TRANSITIVE" } });
    expect(await ask("GET", "/config/a")).toEqual({ status: 200, body: { compatibilityLevel: "BACKWARD_TRANSITIVE" } });
    const wider = person({ age: { type: "number" } });
    const narrower = person({ age: { type: "number" } }, ["name", "age"]);
    expect((await ask("POST", "/compatibility/subjects/a/versions?verbose=true", wider)).body).toMatchObject({ is_compatible: true });
    expect((await ask("POST", "/compatibility/subjects/a/versions?verbose=true", narrower)).body).toMatchObject({ is_compatible: false, messages: [expect.stringContaining("age")] });
    expect((await ask("POST", "/subjects/a/versions", narrower))).toMatchObject({ status: 409, body: { error_code: 409 } });
    expect((await ask("POST", "/subjects/a/versions", wider)).status).toBe(200);
    await ask("PUT", "/config/a", { compatibility: "NONE" });
    expect((await ask("POST", "/subjects/a/versions", narrower)).status).toBe(200);
  });

  test("refuses bodies that are no JSON, levels that there are not, and paths that it does not know", async () => {
    expect((await ask("POST", "/subjects/a/versions", { schemaType: "JSON", schema: "{" })).status).toBe(422);
    expect((await ask("PUT", "/config/a", { compatibility: "SOMETIMES" })).status).toBe(422);
    expect((await ask("GET", "/nowhere")).status).toBe(404);
    expect((await fetch(`${url}/subjects/a/versions`, { method: "POST", body: "{" })).status).toBe(422);
  });
});
