/** The checker as a process of its own. */
import { runService } from "@loopledger/composition/crew/service";
import { readConfig } from "./config.ts";
import { reviewRunner } from "./checker.ts";

await runService(readConfig, { name: "checker", roles: () => ({ checker: reviewRunner }), runsHandlers: true });
