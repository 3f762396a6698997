/**
 * Whether who reads by a newer JSON Schema accepts everything that an older one accepted. It knows the keywords that schemas of
 * records are made of; one that it does not know has to be the same in both, so what it cannot judge it refuses.
 */
type Schema = { readonly [keyword: string]: unknown };
interface Side { readonly schema: unknown; readonly root: Schema }
type Pair = { readonly newer: Side; readonly older: Side; readonly at: string; readonly seen: ReadonlySet<string> };

const words = new Set(["$schema", "$id", "$ref", "$defs", "definitions", "title", "description", "examples", "default", "$comment"]);
const judged = new Set([...words, "type", "const", "enum", "oneOf", "anyOf", "properties", "required", "additionalProperties", "items"]);
const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null && !Array.isArray(value);
const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);

/** What of the older one's values the newer one would refuse, in words; empty = it reads them all. */
export function unreadable(newer: string, older: string): string[] {
  const [left, right] = [JSON.parse(newer), JSON.parse(older)] as [unknown, unknown];
  const side = (schema: unknown): Side => ({ schema, root: isSchema(schema) ? schema : {} });
  return compare({ newer: side(left), older: side(right), at: "#", seen: new Set() });
}

function resolve({ schema, root }: Side): Side {
  if (!isSchema(schema) || typeof schema["$ref"] !== "string") return { schema, root };
  let found: unknown = root;
  for (const part of schema["$ref"].replace(/^#\/?/, "").split("/").filter((one) => one !== "")) found = isSchema(found) ? found[part.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  return { schema: found, root };
}

function compare(pair: Pair): string[] {
  const [newer, older] = [resolve(pair.newer), resolve(pair.older)];
  const key = JSON.stringify([newer.schema, older.schema]);
  // A schema that holds itself was found to fit until something else says otherwise.
  if (pair.seen.has(key) || newer.schema === true || older.schema === false) return [];
  const inner = { ...pair, newer, older, seen: new Set([...pair.seen, key]) };
  if (!isSchema(newer.schema)) return [`${pair.at} takes nothing any more`];
  const before = isSchema(older.schema) ? older.schema : {};
  const older1 = listOf(before["oneOf"] ?? before["anyOf"]);
  if (older1.length > 0) return older1.flatMap((branch) => compare({ ...inner, older: { ...older, schema: branch } }));
  const branches = listOf(newer.schema["oneOf"] ?? newer.schema["anyOf"]);
  return branches.length > 0 ? amongBranches(inner, branches, before) : [...values(inner, newer.schema, before), ...members(inner, newer.schema, before), ...limits(pair.at, newer.schema, before)];
}

function amongBranches(pair: Pair, branches: readonly unknown[], before: Schema): string[] {
  const tries = branches.map((branch) => compare({ ...pair, newer: { ...pair.newer, schema: branch } }));
  if (tries.some((faults) => faults.length === 0)) return [];
  const named = branches.findIndex((branch) => isSchema(branch) && branch["title"] !== undefined && branch["title"] === before["title"]);
  return tries[named] ?? [`${pair.at}${typeof before["title"] === "string" ? ` (${before["title"]})` : ""} fits no branch`];
}

function values({ at }: Pair, now: Schema, before: Schema): string[] {
  const allowed = now["const"] === undefined ? now["enum"] : [now["const"]];
  const had = before["const"] === undefined ? before["enum"] : [before["const"]];
  if (Array.isArray(allowed)) {
    const lost = Array.isArray(had) ? had.filter((value) => !allowed.some((one) => same(one, value))) : ["any value"];
    if (lost.length > 0) return [`${at} takes ${lost.map(String).join(", ")} no more`];
  }
  const types = listOf(now["type"]);
  const hadTypes = listOf(before["type"]);
  const kept = (type: unknown): boolean => types.includes(type) || (type === "integer" && types.includes("number"));
  if (types.length === 0 || Array.isArray(had)) return [];
  return hadTypes.length > 0 && hadTypes.every(kept) ? [] : [`${at} is ${types.join(" or ")} now`];
}

function members(pair: Pair, now: Schema, before: Schema): string[] {
  const { at, newer, older } = pair;
  const into = (left: unknown, right: unknown, name: string): string[] => compare({ ...pair, newer: { ...newer, schema: left }, older: { ...older, schema: right }, at: `${at}/${name}` });
  const [left, right] = [propertiesOf(now), propertiesOf(before)];
  const isClosed = now["additionalProperties"] === false;
  const wasOpen = before["additionalProperties"] !== false && listOf(before["type"]).includes("object");
  const needed = listOf(now["required"]).filter((name) => !listOf(before["required"]).includes(name)).map((name) => `${at}/${String(name)} is required now`);
  const lost = isClosed ? [...right.keys()].filter((name) => !left.has(name)).map((name) => `${at}/${name} is gone`) : [];
  const closed = isClosed && wasOpen ? [`${at} takes no other fields any more`] : [];
  const added = wasOpen && !isClosed ? [...left].filter(([name]) => !right.has(name)).flatMap(([name, schema]) => into(schema, before["additionalProperties"] ?? {}, name)) : [];
  const kept = [...left].filter(([name]) => right.has(name)).flatMap(([name, schema]) => into(schema, right.get(name), name));
  const rest = isSchema(now["additionalProperties"]) && wasOpen ? into(now["additionalProperties"], before["additionalProperties"] ?? {}, "*") : [];
  const items = now["items"] === undefined || !listOf(before["type"]).includes("array") ? [] : into(now["items"], before["items"] ?? {}, "[]");
  return [...needed, ...lost, ...closed, ...added, ...kept, ...rest, ...items];
}

const propertiesOf = (schema: Schema): ReadonlyMap<string, unknown> => new Map(Object.entries(isSchema(schema["properties"]) ? schema["properties"] : {}));

/** Bounds may become wider; anything else that is not judged above has to stay as it was. */
function limits(at: string, now: Schema, before: Schema): string[] {
  return Object.entries(now).filter(([keyword]) => !judged.has(keyword)).flatMap(([keyword, value]) => {
    const had = before[keyword];
    const isWider = /^(min|exclusiveMin)/.test(keyword) ? Number(value) <= Number(had) : /^(max|exclusiveMax)/.test(keyword) ? Number(value) >= Number(had) : same(value, had);
    return isWider ? [] : [`${at}: ${keyword} is ${JSON.stringify(value)} now`];
  });
}
