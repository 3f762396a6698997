/** The intake as a process of its own. */
import { runService } from "@loopledger/composition/crew/service";
import { readConfig } from "./config.ts";
import { startIntake } from "./intake.ts";

await runService(readConfig, { name: "intake", roles: () => ({ intake: startIntake }), runsHandlers: false, knowsHandlers: true, needsKafka: true });
