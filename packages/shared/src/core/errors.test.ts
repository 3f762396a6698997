import { describe, expect, it } from "vitest";
import { LoopledgerError, errorCatalogue, errorCodes, isLoopledgerError } from "./errors.ts";

describe("the catalogue of errors", () => {
  it("says for every code what the caller may do and what a person does next", () => {
    expect(errorCatalogue().map((entry) => entry.code)).toEqual(errorCodes);
    for (const { code, then, next } of errorCatalogue()) {
      expect(code).toMatch(/^[a-z_]+$/);
      expect(["retry", "stop"]).toContain(then);
      expect(next.endsWith("."), code).toBe(true);
    }
  });
  it("an error carries its code, its cause and its way on, which a thrower may sharpen", () => {
    const cause = new Error("EACCES");
    const error = new LoopledgerError("ledger_read_only", "cannot write", { cause, next: "chmod u+w ledger.db" });
    expect(error).toMatchObject({ name: "LoopledgerError", code: "ledger_read_only", then: "stop", next: "chmod u+w ledger.db", cause });
    expect(isLoopledgerError(error)).toBe(true);
    expect(isLoopledgerError(error, "ledger_full")).toBe(false);
    expect(isLoopledgerError(cause)).toBe(false);
  });
});
