/** The scheduler as a process of its own. */
import { runService } from "@loopledger/composition/crew/service";
import { readConfig } from "./config.ts";
import { makeScheduler } from "./scheduler.ts";

await runService(readConfig, { name: "scheduler", roles: () => ({ scheduler: makeScheduler }), runsHandlers: false });
