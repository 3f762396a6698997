/** Every kind of record that cannot be taken in, on a real Kafka: one dead letter each, and what comes behind it is handled. */
import { missingHandlers } from "@loopledger/composition/project/known-handlers";
import { goalBytesMax } from "@loopledger/shared/core/events/goal";
import { figuresText } from "@loopledger/shared/runtime";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openDoor } from "../contract/registry-door.ts";
import { registryUrl } from "../support/parts/parts.ts";
import { Stage, goalText } from "./stage.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

let stage: Stage;
afterEach(() => stage.close());

type Value = string | Uint8Array | null;
interface Bad { readonly key?: string | Uint8Array | null; readonly value: Value; readonly reason: string; readonly detail?: RegExp }

const framed = (id: number, text: string): Uint8Array => Buffer.concat([Buffer.from([0, id >>> 24, (id >>> 16) & 255, (id >>> 8) & 255, id & 255]), Buffer.from(text)]);
const half = '"\\ud83d"';
const bad: readonly Bad[] = [
  { value: goalText().slice(0, -3), reason: "not_json" },
  { value: "", reason: "not_json", detail: /empty/ },
  { value: "Mend it, please", reason: "not_json" },
  { value: Uint8Array.from([255, 254, 0, 1]), reason: "not_json", detail: /UTF-8/ },
  { key: "tombstone", value: null, reason: "null_value" },
  { key: null, value: null, reason: "null_value" },
  { value: "null", reason: "null_value" },
  { value: "[]", reason: "schema_violation" },
  { value: "17", reason: "schema_violation" },
  { value: '{"hello":"world"}', reason: "schema_violation", detail: /hello: unknown field/ },
  { value: goalText({ goal: "" }), reason: "schema_violation" },
  { value: goalText({ budjet: {} }), reason: "schema_violation", detail: /did you mean budget/ },
  { value: goalText({ id: "a b" }), reason: "schema_violation" },
  { value: goalText({ leaves: [{ id: "a", title: "A", after: ["b"] }] }), reason: "schema_violation", detail: /comes after b/ },
  { value: `${"[".repeat(100_000)}${"]".repeat(100_000)}`, reason: "schema_violation" },
  { key: "", value: goalText(), reason: "missing_key" },
  { key: "two words", value: goalText(), reason: "foreign_key" },
  { key: "k".repeat(129), value: goalText(), reason: "foreign_key" },
  { key: Uint8Array.from([255]), value: goalText(), reason: "foreign_key" },
  { key: "one", value: goalText({ id: "other" }), reason: "foreign_key", detail: /one[\s\S]*other/ },
  { value: goalText({ inputs: { text: "x".repeat(goalBytesMax) } }), reason: "too_large", detail: /256 KiB/ },
  { value: `{"goal":${half},"maker":"m","check":"c"}`, reason: "half_characters" },
  { value: `{"goal":"g","maker":"m","check":"c","inputs":{"a":{"b":[${half}]}}}`, reason: "half_characters", detail: /inputs\.a\.b/ },
  { value: '{"goal":"nul \\u0000","maker":"m","check":"c"}', reason: "half_characters" },
  { value: Buffer.from(goalText({ goal: "caf\u00e9" }), "latin1"), reason: "half_characters", detail: /UTF-8/ },
  { value: goalText({ maker: "nobody" }), reason: "unknown_handler", detail: /no maker nobody/ },
  { value: goalText({ check: "nothing" }), reason: "unknown_handler", detail: /no check nothing/ },
  { value: goalText({ policy: { approvals: [{ before: "deploi" }] } }), reason: "unknown_handler", detail: /asks before deploi, and there is no such tool/ },
  { value: goalText({ policy: { gates: ["safe"] } }), reason: "unknown_handler", detail: /names safe, and no gates are run here/ },
  { key: "first", value: goalText({ goal: "Another one" }), reason: "id_conflict" },
  { key: null, value: goalText({ id: "first", goal: "Another one" }), reason: "id_conflict" },
  { value: JSON.stringify({ before: { id: 1 }, after: null, source: {}, op: "d", ts_ms: 1 }), reason: "not_an_insert" },
  { value: JSON.stringify({ specversion: "1.0", id: "1", source: "s", type: "t" }), reason: "schema_violation", detail: /no data/ },
];

describe("bad input on the goals topic", () => {
  test("is one dead letter each with its source and its bytes, and every goal behind it is a session", async () => {
    stage = await Stage.make();
    const good = (i: number) => ({ key: `good-${i}`, value: goalText(), headers: {} });
    await stage.put({ key: "first", value: goalText(), headers: {} }, ...bad.flatMap(({ key = "bad", value }, i) => [{ key, value, headers: { "row": String(i), reason: "the sender's" } }, good(i)]));
    const known = { handlers: { makers: { m: {} }, checks: { c: {} }, tools: { deploy: {} } } };
    const { intake } = await stage.intake({ missingHandlers: (goal) => missingHandlers(goal, known) });
    const last = `good-${bad.length - 1}`;
    await stage.waitFor("the last goal", async () => (await stage.sessions()).includes(last));
    const ledger = await stage.ledger();
    expect(ledger.sessions()).toEqual(["first", ...bad.map((_, i) => `good-${i}`)].sort());
    const letters = await stage.waitFor("all dead letters", async () => {
      const found = await stage.letters();
      return found.length >= bad.length ? found : null;
    });
    expect(letters.map(({ reason, detail }, i) => ({ i, reason, fits: bad[i]?.detail?.test(detail) ?? detail !== "" }))).toEqual(bad.map(({ reason }, i) => ({ i, reason, fits: true })));
    for (const [i, letter] of letters.entries()) {
      const offset = 1 + 2 * i;
      expect(letter).toMatchObject({ id: `${stage.prefix}.goals-0-${offset}`, source: { topic: `${stage.prefix}.goals`, partition: 0, offset }, replayedAt: null });
      const { key = "bad", value = null } = bad[i] ?? {};
      expect([letter.key && Buffer.from(letter.key).toString("base64"), letter.value && Buffer.from(letter.value).equals(bytesOf(value) ?? Buffer.alloc(0))]).toEqual([bytesOf(key)?.toString("base64") ?? null, value === null ? null : true]);
      expect(Object.fromEntries(Object.entries(letter.headers).map(([name, content]) => [name, Buffer.from(content).toString()]))).toEqual({ row: String(i), reason: "the sender's" });
    }
    expect(await stage.lettersWritten()).toBe(bad.length);
    expect(ledger.goals("first")).toEqual([{ text: "Mend it", by: `intake ${stage.prefix}.goals-0-0` }]);
    expect(figuresText(intake.figures())).toContain('loopledger_intake_dead_letters_total{reason="not_json"} 4');
    expect(figuresText(intake.figures())).toMatch(new RegExp(`^loopledger_intake_goals_total ${bad.length + 1}$`, "m"));
  });

  test("an id that the registry does not know is a dead letter; a registry that does not answer is waited for", async () => {
    const door = await openDoor(await registryUrl());
    stage = await Stage.make({ more: { LOOPLEDGER_REGISTRY_URL: door.url } });
    try {
      const applied = await stage.run("topics", "apply", "--partitions", "1", "--json");
      expect(applied, applied.err).toMatchObject({ code: 0 });
      const { intake, engine } = await stage.intake();
      const written = await engine.schemas?.encode(`${stage.prefix}.goals`, goalText());
      await stage.put({ key: "framed", value: written ?? null });
      await stage.waitFor("the framed goal", async () => (await stage.sessions()).includes("framed"));
      door.silent(true);
      await stage.put({ key: "later", value: framed(2_000_000_001, goalText()) }, { key: "behind", value: goalText() });
      await stage.waitFor("the intake to say that it waits", () => engine.supervision.faulty().includes("intake"));
      expect(await stage.letters()).toEqual([]);
      expect(intake.ready()).toBe(true);
      door.silent(false);
      await stage.waitFor("the goal behind", async () => (await stage.sessions()).includes("behind"));
      await stage.waitFor("the dead letter", async () => (await stage.letters()).length > 0);
      expect((await stage.letters()).map(({ reason, source }) => [reason, source.offset])).toEqual([["unknown_schema_id", 1]]);
      await stage.waitFor("readiness", () => !engine.supervision.faulty().includes("intake"));
    } finally {
      await door.close();
    }
  });

  test("a value whose schema is none of JSON is a dead letter", async () => {
    const registry = await registryUrl();
    stage = await Stage.make({ more: { LOOPLEDGER_REGISTRY_URL: registry } });
    const answer = await fetch(`${registry}/subjects/${stage.prefix}.avro-value/versions`, {
      method: "POST", headers: { "content-type": "application/vnd.schemaregistry.v1+json" }, body: JSON.stringify({ schema: JSON.stringify({ type: "record", name: "Goal", fields: [{ name: "goal", type: "string" }] }) }),
    });
    const { id } = (await answer.json()) as { readonly id: number };
    expect(await stage.run("topics", "apply", "--partitions", "1")).toMatchObject({ code: 0 });
    await stage.put({ key: "avro", value: framed(id, "\x0eMend it") }, { key: "behind", value: goalText() });
    await stage.intake();
    await stage.waitFor("the goal behind", async () => (await stage.sessions()).join() === "behind");
    const letters = await stage.waitFor("the dead letter", async () => {
      const found = await stage.letters();
      return found.length > 0 ? found : null;
    });
    expect(letters).toMatchObject([{ reason: "not_json", detail: expect.stringContaining("none of JSON"), source: { offset: 0 } }]);
  });

  test("a record of several megabytes is kept whole", async () => {
    stage = await Stage.make();
    const value = `{"goal":"${"ä".repeat(1_500_000)}`;
    await stage.setting("goals", "max.message.bytes", String(5 << 20));
    await stage.put({ key: "large", value }, { key: "behind", value: goalText() });
    await stage.intake();
    await stage.waitFor("the goal behind", async () => (await stage.sessions()).join() === "behind");
    const [letter] = await stage.waitFor("the letter", async () => {
      const found = await stage.letters();
      return found.length > 0 ? found : null;
    });
    expect(letter).toMatchObject({ reason: "too_large", isCut: false, bytes: Buffer.byteLength(value) });
    expect(Buffer.from(letter?.value ?? []).equals(Buffer.from(value))).toBe(true);
  });

  test("a goal whose handling fails again and again is set aside after a bounded number of tries", async () => {
    stage = await Stage.make();
    await stage.put({ key: "poison", value: goalText() }, { key: "behind", value: goalText() });
    let tries = 0;
    await stage.intake({}, (engine) => ({
      ...engine, author: new Proxy(engine.author, {
        get: (author, name) => (...given: readonly unknown[]) => {
          if (name === "write" && given[0] === "poison") {
            tries++;
            throw new TypeError("Nobody foresaw this.");
          }
          return (Reflect.get(author, name) as (...given: readonly unknown[]) => unknown).apply(author, given as unknown[]);
        },
      }),
    }));
    const [letter] = await stage.waitFor("the dead letter", async () => {
      const found = await stage.letters();
      return found.length > 0 ? found : null;
    });
    expect(letter).toMatchObject({ reason: "handling_failed", detail: expect.stringContaining("Nobody foresaw this."), source: { offset: 0 } });
    expect(tries).toBe(8);
    expect(await stage.sessions()).toEqual(["behind"]);
  });

  test("a letter that is too large for its topic keeps the beginning and says so, and holds up nothing", async () => {
    stage = await Stage.make();
    const value = `{"goal":"${"x".repeat(900_000)}`;
    await stage.setting("dead-letters", "max.message.bytes", "700000");
    await stage.put({ key: "large", value }, { key: "behind", value: goalText() });
    await stage.intake();
    await stage.waitFor("the goal behind", async () => (await stage.sessions()).includes("behind"));
    const [letter] = await stage.waitFor("the letter", async () => {
      const found = await stage.letters();
      return found.length > 0 ? found : null;
    });
    expect(letter).toMatchObject({ reason: "too_large", isCut: true, bytes: value.length });
    expect(Buffer.from(letter?.value ?? []).toString()).toBe(value.slice(0, 512 << 10));
    expect(await stage.run("dlq", "replay", letter?.id ?? "", "--json")).toMatchObject({ code: 1, out: "", err: expect.stringContaining("dead_letter_cut") });
  });

  test("records that retention took away are told, and readiness stays red", async () => {
    stage = await Stage.make();
    await stage.put({ key: "a", value: goalText() });
    const first = await stage.intake();
    await stage.waitFor("the first goal", async () => (await stage.sessions()).includes("a"));
    await first.intake.stop();
    await stage.put({ key: "b", value: goalText() }, { key: "c", value: goalText() }, { key: "d", value: goalText() });
    await stage.cutGoals(3);
    const { engine } = await stage.intake();
    await stage.waitFor("what is left", async () => (await stage.sessions()).includes("d"));
    expect(await stage.sessions()).toEqual(["a", "d"]);
    expect(engine.supervision.faulty()).toContain("intake.gap");
  });
});

function bytesOf(part: Value): Buffer | null {
  return part === null ? null : typeof part === "string" ? Buffer.from(part) : Buffer.from(part);
}
