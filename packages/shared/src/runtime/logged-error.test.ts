import { pino, stdSerializers } from "pino";
import { expect, test } from "vitest";
import { serializeOnce, withCauses } from "./logged-error.ts";

/** The line that a log writes of the error. */
function lineOf(error: unknown): { readonly err: { readonly message: string; readonly stack: string; readonly code?: string } } {
  let line = "";
  pino({ serializers: { err: serializeOnce(stdSerializers.err) } }, { write: (text: string) => { line += text; } }).error({ err: error }, "failed");
  return JSON.parse(line) as ReturnType<typeof lineOf>;
}
const countOf = (text: string, part: string): number => text.split(part).length - 1;

test("an error that is wrapped in one of the same words is told once, and its stack too", () => {
  const refused = new Error("connect ECONNREFUSED 127.0.0.1:1");
  const again = new Error(refused.message, { cause: refused });
  again.stack = `Wrapped\n  Caused by: ${refused.stack}`;
  const outer = new Error(`No broker answers: ${refused.message}`, { cause: again });
  const { err } = lineOf(outer);
  expect(err.message).toBe("No broker answers: connect ECONNREFUSED 127.0.0.1:1");
  expect(countOf(err.stack, refused.stack ?? "")).toBe(1);
});

test("a cause that says something else is told behind it, whatever else the error carries", () => {
  const outer = Object.assign(new Error("the ledger cannot be read", { cause: new Error("disk I/O error") }), { code: "ledger_corrupt" });
  expect(lineOf(outer).err).toMatchObject({ message: "the ledger cannot be read: disk I/O error", code: "ledger_corrupt", stack: expect.stringContaining("\ncaused by: Error: disk I/O error") });
});

test("causes that go in a circle end", () => {
  const [one, other] = [new Error("one"), new Error("other")];
  one.cause = other;
  other.cause = one;
  expect(withCauses(one, "message")).toBe("one: other");
});

test("what is thrown and is no error is told as it is", () => {
  expect(lineOf("text").err).toBe("text");
});
