import { join, resolve } from "node:path";
import { defineConfig } from "loopledger";
import { forgeUrl } from "./forge/address.mjs";

/** Everything that the example makes lies under the data folder: the checkout stays as it is. */
const place = join(resolve(process.env["LOOPLEDGER_DATA"] ?? ".loopledger"), "repair");
const workspace = join(place, "workspace");
const program = (name: string) => join(import.meta.dirname, name);
const forge = await forgeUrl(join(place, "forge"));

export default defineConfig({
  /** Before the first step: makes the copy to work on and starts the forge, where they are not there yet. The forge ends with this process. */
  prepare: { exec: ["node", program("prepare.mjs"), place, String(process.pid)], timeoutSeconds: 60 },

  makers: {
    searcher: { exec: ["node", program("maker.mjs"), "--place", place], cwd: workspace, timeoutSeconds: 120 },
  },

  checks: {
    /** The tests decide, so the tests and the command that runs them are pinned: a maker cannot bend them. */
    tests: { exec: ["node", program("check.mjs")], cwd: workspace, timeoutSeconds: 60, pin: ["package.json", "test/**"] },
  },

  tools: {
    /** A lost answer is no reason to open a second one: the forge is asked first, and asking shuts out older owners. */
    open_pull_request: {
      http: { url: `${forge}/pulls` },
      contract: "lookup",
      lookup: { url: `${forge}/pulls/{key}` },
      fences: true,
    },
  },
});
