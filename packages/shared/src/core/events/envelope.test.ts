import fc from "fast-check";
import { expect, it } from "vitest";
import { envelope, isPlainEnvelope } from "./envelope.ts";

const least = {
  v: 1, ledgerId: "l", eventId: "e-1", sessionId: "s", type: "built", typeVersion: 1, at: "2030-01-01T00:00:00.000Z", actor: { kind: "maker", id: "m@1" }, data: {},
};
const whole = { ...least, epoch: 1, ownerId: "o", n: 1, cause: { eventId: "e-0", seq: 0 }, sig: "" };

it.each([["an envelope without what may be left out", least], ["one with all of its members", whole]])("%s is taken as it stands", (_, value) => {
  expect(isPlainEnvelope(value)).toBe(true);
  expect(envelope.parse(value)).toEqual(value);
});

it.each(Object.keys(least))("without its %s it is left to the schema", (name) => {
  expect(isPlainEnvelope(Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name)))).toBe(false);
});

it("what is no object, and what has a member that no envelope has, is left to the schema", () => {
  for (const value of [null, undefined, 1, "text", [], {}, { ...whole, more: 1 }, { ...whole, actor: { ...least.actor, more: 1 } }, { ...whole, cause: { ...whole.cause, more: 1 } }]) {
    expect(isPlainEnvelope(value)).toBe(false);
  }
  expect(isPlainEnvelope(JSON.parse(`{"__proto__":{},${JSON.stringify(whole).slice(1)}`))).toBe(false);
});

it("nothing passes that the schema refuses or changes, whatever stands in one of its members", () => {
  const odd = fc.oneof(
    fc.constantFrom<unknown>(undefined, null, "", "\0", "half \ud800", 0, -1, 1, 1.5, 2 ** 53, Number.NaN, Infinity, true, [], {}, "x".repeat(64), "x".repeat(65)),
    fc.constantFrom<unknown>("x".repeat(128), "x".repeat(129), "x".repeat(160), "x".repeat(161), "x".repeat(512), "x".repeat(513)),
    fc.constantFrom<unknown>({ kind: "maker", id: "" }, { kind: "nobody", id: "m" }, { kind: "human", id: "x".repeat(513) }, { id: "m" }, { kind: "store" }),
    fc.constantFrom<unknown>({ eventId: "e" }, { eventId: "" }, { eventId: "e", seq: -1 }, { eventId: "e", seq: undefined }, { seq: 1 }),
    fc.string({ maxLength: 20 }), fc.integer(), fc.jsonValue(),
  );
  fc.assert(fc.property(fc.constantFrom(...Object.keys(whole), "more"), odd, (name, value) => {
    const changed = { ...whole, [name]: value };
    if (!isPlainEnvelope(changed)) return;
    expect(envelope.safeParse(changed)).toEqual({ success: true, data: changed });
  }), { numRuns: 3000 });
});
