/** The worker as a process of its own. */
import { runService } from "@loopledger/composition/crew/service";
import { readConfig } from "./config.ts";
import { buildRunner } from "./worker.ts";

await runService(readConfig, { name: "worker", roles: () => ({ worker: buildRunner }), runsHandlers: true });
