import { defineConfig } from "vitest/config";

/** Two forks at a time: the suite must stay green on a busy machine of two cores. */
export default defineConfig({
  test: {
    include: ["packages/**/*.test.ts", "services/**/*.test.ts", "examples/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/.cache/**", "**/.loopledger/**"],
    globalSetup: ["test/support/parts/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    // Longer than any condition waits (`until`), so that a test that fails says what it waited for.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    passWithNoTests: false,
    allowOnly: false,
  },
});
