import { defineConfig } from "vitest/config";

/** Three forks at a time: on two cores, while two of them wait for a lease or a broker, the third still has work. */
export default defineConfig({
  test: {
    include: ["packages/**/*.test.ts", "services/**/*.test.ts", "examples/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/.cache/**", "**/.loopledger/**"],
    globalSetup: ["test/support/parts/global-setup.ts"],
    pool: "forks",
    maxWorkers: 3,
    // Longer than any condition waits (`until`), so that a test that fails says what it waited for.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    passWithNoTests: false,
    allowOnly: false,
  },
});
