import { defineConfig, exec } from "loopledger";

export default defineConfig({
  makers: {
    /** Stands in for an agent, so that the project runs as it is. Put your own command in its place. */
    agent: exec(["node", "agent.mjs"], { timeoutSeconds: 600 }),
  },
  checks: {
    /** The tests decide. What they stand on is pinned, so that an agent cannot bend them. */
    tests: exec(["node", "--test"], { timeoutSeconds: 120, pin: ["test/**"] }),
  },
});
