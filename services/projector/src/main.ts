/** The projector as a process of its own. */
import { runService } from "@loopledger/composition/crew/service";
import { optionsOf, readConfig } from "./config.ts";
import { startProjector } from "./projector.ts";

await runService(readConfig, { name: "projector", roles: (settings) => ({ projector: (engine) => startProjector(engine, optionsOf(settings)) }), runsHandlers: false });
