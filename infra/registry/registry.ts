/**
 * A development registry: the part of the Confluent API that clients use to register, find and compare schemas, on one SQLite
 * file. It is for a machine without a Java that is new enough for a real one, and it is not for production: no users, no
 * references between schemas, and of the compatibility levels those that look back.
 */
import { messageOf } from "@loopledger/shared/core/errors";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { unreadable } from "./compatibility.ts";

interface Answer { readonly status: number; readonly body: unknown }
type Body = { readonly schema?: string; readonly schemaType?: string; readonly compatibility?: string };
type Row = { id: number; subject: string; version: number; schema: string; type: string };

const levels = ["NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"];
const bodyLimit = 4 << 20;
const contentType = "application/vnd.schemaregistry.v1+json";

const ok = (body: unknown): Answer => ({ status: 200, body });
const refuse = (code: number, message: string): Answer => ({ status: Math.floor(code / 100), body: { error_code: code, message } });
const noSubject = (subject: string): Answer => refuse(40_401, `Subject '${subject}' not found.`);

/** Schemas have one id, whatever the subjects that hold them; a subject's versions count from 1. */
export class SchemaStore {
  readonly #db: DatabaseSync;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000;
      CREATE TABLE IF NOT EXISTS schemas (id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, schema TEXT NOT NULL, UNIQUE (type, schema));
      CREATE TABLE IF NOT EXISTS versions (subject TEXT NOT NULL, version INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (subject, version));
      CREATE TABLE IF NOT EXISTS levels (subject TEXT PRIMARY KEY, level TEXT NOT NULL);`);
  }

  close(): void {
    this.#db.close();
  }

  subjects(): string[] {
    return this.#db.prepare("SELECT DISTINCT subject FROM versions ORDER BY subject").all().map((row) => String(row["subject"]));
  }

  versions(subject: string): Row[] {
    return this.#db.prepare("SELECT s.id, v.subject, v.version, s.schema, s.type FROM versions v JOIN schemas s ON s.id = v.id WHERE v.subject = ? ORDER BY v.version").all(subject) as unknown as Row[];
  }

  schema(id: number): { schema: string; type: string } | null {
    return (this.#db.prepare("SELECT schema, type FROM schemas WHERE id = ?").get(id) as { schema: string; type: string } | undefined) ?? null;
  }

  register(subject: string, schema: string, type: string): number {
    const there = this.versions(subject);
    const same = there.find((row) => row.schema === schema && row.type === type);
    if (same) return same.id;
    this.#db.prepare("INSERT OR IGNORE INTO schemas (type, schema) VALUES (?, ?)").run(type, schema);
    const id = Number(this.#db.prepare("SELECT id FROM schemas WHERE type = ? AND schema = ?").get(type, schema)?.["id"]);
    this.#db.prepare("INSERT INTO versions (subject, version, id) VALUES (?, ?, ?)").run(subject, (there.at(-1)?.version ?? 0) + 1, id);
    return id;
  }

  remove(subject: string): number[] {
    const versions = this.versions(subject).map((row) => row.version);
    this.#db.prepare("DELETE FROM versions WHERE subject = ?").run(subject);
    this.#db.prepare("DELETE FROM levels WHERE subject = ?").run(subject);
    return versions;
  }

  /** The subject `""` is everybody's default. */
  level(subject: string): string | null {
    const row = this.#db.prepare("SELECT level FROM levels WHERE subject = ?").get(subject);
    return row === undefined ? null : String(row["level"]);
  }

  setLevel(subject: string, level: string): void {
    this.#db.prepare("INSERT INTO levels (subject, level) VALUES (?, ?) ON CONFLICT (subject) DO UPDATE SET level = excluded.level").run(subject, level);
  }
}

function versionOf(store: SchemaStore, subject: string, version: string): Answer {
  const rows = store.versions(subject);
  if (rows.length === 0) return noSubject(subject);
  const row = version === "latest" ? rows.at(-1) : rows.find((one) => String(one.version) === version);
  if (!row) return refuse(40_402, `Version ${version} not found.`);
  return ok({ subject, version: row.version, id: row.id, schema: row.schema, schemaType: row.type });
}

/** What this subject's level has against a schema. */
function objections(store: SchemaStore, subject: string, { schema, type }: { readonly schema: string; readonly type: string }): string[] {
  const level = store.level(subject) ?? store.level("") ?? "BACKWARD";
  const versions = store.versions(subject);
  const looksAt = level.endsWith("_TRANSITIVE") ? versions : versions.slice(-1);
  if (type !== "JSON" || !/^(BACKWARD|FULL)/.test(level)) return [];
  return looksAt.flatMap((older) => unreadable(schema, older.schema).map((fault) => `${fault} (version ${older.version})`));
}

function register(store: SchemaStore, subject: string, wanted: { readonly schema: string; readonly type: string }): Answer {
  const same = store.versions(subject).some((row) => row.schema === wanted.schema && row.type === wanted.type);
  const faults = same ? [] : objections(store, subject, wanted);
  return faults.length > 0 ? { status: 409, body: { error_code: 409, message: `The schema is incompatible with an earlier one: ${faults.join("; ")}` } } : ok({ id: store.register(subject, wanted.schema, wanted.type) });
}

function compatibility(store: SchemaStore, subject: string, body: Body): Answer {
  if (store.versions(subject).length === 0) return noSubject(subject);
  return withSchema(body, (schema, type) => {
    const messages = objections(store, subject, { schema, type });
    return ok({ is_compatible: messages.length === 0, messages });
  });
}

function withSchema({ schema, schemaType = "AVRO" }: Body, act: (schema: string, type: string) => Answer): Answer {
  try {
    return act(JSON.stringify(JSON.parse(schema ?? "")), schemaType);
  } catch (error) {
    if (error instanceof SyntaxError) return refuse(42_201, `Invalid schema: ${error.message}`);
    throw error;
  }
}

function config(store: SchemaStore, method: string, { subject, body, fallback }: { readonly subject: string; readonly body: Body; readonly fallback: boolean }): Answer {
  if (method === "PUT") {
    const level = body.compatibility?.toUpperCase() ?? "";
    if (!levels.includes(level)) return refuse(42_203, `Invalid compatibility level. Valid values are: ${levels.join(", ")}`);
    store.setLevel(subject, level);
    return ok({ compatibility: level });
  }
  const level = store.level(subject) ?? (subject === "" || fallback ? store.level("") ?? "BACKWARD" : null);
  return level === null ? refuse(40_408, `Subject '${subject}' does not have subject-level compatibility configured`) : ok({ compatibilityLevel: level });
}

function subjects(store: SchemaStore, method: string, { subject, rest, body }: { readonly subject: string; readonly rest: readonly string[]; readonly body: Body }): Answer | null {
  const path = rest.join("/");
  if (method === "DELETE" && path === "") return store.versions(subject).length === 0 ? noSubject(subject) : ok(store.remove(subject));
  if (method === "GET" && path === "versions") return store.versions(subject).length === 0 ? noSubject(subject) : ok(store.versions(subject).map((row) => row.version));
  if (method === "GET" && rest[0] === "versions" && rest.length === 2) return versionOf(store, subject, rest[1] ?? "");
  if (method === "POST" && path === "versions") return withSchema(body, (schema, type) => register(store, subject, { schema, type }));
  if (method !== "POST" || path !== "") return null;
  return withSchema(body, (schema, type) => {
    const rows = store.versions(subject);
    const row = rows.find((one) => one.schema === schema && one.type === type);
    return rows.length === 0 ? noSubject(subject) : row ? ok({ subject, id: row.id, version: row.version, schema: row.schema, schemaType: row.type }) : refuse(40_403, "Schema not found");
  });
}

/** The answer to one request; 404 for a path that is none of the API. */
function answer(store: SchemaStore, { method, url, body }: { readonly method: string; readonly url: string; readonly body: Body }): Answer {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const [area = "", first = "", ...rest] = pathname.split("/").filter((part) => part !== "").map(decodeURIComponent);
  const fallback = searchParams.get("defaultToGlobal") === "true";
  if (area === "subjects" && first === "" && method === "GET") return ok(store.subjects());
  const found = area === "subjects" && first !== "" ? subjects(store, method, { subject: first, rest, body })
    : area === "schemas" && first === "ids" && method === "GET" ? schemaById(store, rest[0] ?? "")
    : area === "schemas" && first === "types" ? ok(["JSON", "AVRO"])
    : area === "config" && (method === "GET" || method === "PUT") ? config(store, method, { subject: first, body, fallback })
    : area === "compatibility" && first === "subjects" && method === "POST" ? compatibility(store, rest[0] ?? "", body) : null;
  return found ?? { status: 404, body: { error_code: 404, message: `There is no ${method} ${pathname} here.` } };
}

function schemaById(store: SchemaStore, id: string): Answer {
  const found = /^\d+$/.test(id) ? store.schema(Number(id)) : null;
  return found === null ? refuse(40_403, "Schema not found") : ok({ schema: found.schema, schemaType: found.type });
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyLimit) throw new Error("too large");
    chunks.push(chunk);
  }
  return size === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString("utf8")) as Body);
}

export function serveRegistry(store: SchemaStore): Server {
  return createServer((request, response) => {
    const send = ({ status, body }: Answer): void => void response.writeHead(status, { "content-type": contentType }).end(JSON.stringify(body));
    bodyOf(request).then(
      (body) => send(answer(store, { method: request.method ?? "GET", url: request.url ?? "/", body })),
      () => send(refuse(42_201, "The body is no JSON, or too large.")),
    ).catch((error: unknown) => send(refuse(50_001, messageOf(error))));
  });
}
