/** Builders, stories and small doubles for tests of every package; programs never import this. */
export * from "./acts.ts";
export * from "./data.ts";
export * from "./fence-cases.ts";
export * from "./folds.ts";
export * from "./invariants.ts";
export * from "./journeys.ts";
export * from "./random.ts";
export * from "./records.ts";
export * from "./sha256.ts";
export * from "./step-clock.ts";
export * from "./story.ts";
export * from "./walk.ts";
