import { describe, expect, it } from "vitest";
import { type Evolve, evolve } from "../core/session/evolve.ts";
import { Story, begin, claim, owed, submit, written } from "./index.ts";

/** The fold, but for what it does to the state at a record that does not count. */
const bent = (kind: "void" | "held"): Evolve => (state, entry, sha256) => {
  const step = evolve(state, entry, sha256);
  return step.verdict.kind === kind ? { ...step, state: { ...step.state, guidance: [...step.state.guidance, "bent"] } } : step;
};

describe("a story", () => {
  it("that would start from a refused record is none", () => {
    expect(() => begin([submit()]).given(claim("W"))).toThrow(/void\(not_owed\)/);
    expect(() => begin([submit(), owed()]).given(claim("W"))).not.toThrow();
  });
  it("sees where a void record changed more than its count", () => {
    const told = (fold: Evolve): Story => new Story({ fold }).given(submit()).when(claim("W"));
    expect(() => told(evolve).thenVoid("not_owed")).not.toThrow();
    expect(() => told(bent("void")).thenVoid("not_owed")).toThrow("a void record changed something");
  });
  it("sees where a record that holds changed more than the hold", () => {
    const told = (fold: Evolve): Story => new Story({ fold }).given(submit()).when({ ...written(new Story().given(submit(), owed()), claim("W")), type: "of_a_later_release" } as never);
    expect(() => told(evolve).thenHeld()).not.toThrow();
    expect(() => told(bent("held")).thenHeld()).toThrow("a held record changed something");
  });
});
