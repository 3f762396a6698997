/** The gateway as a process of its own. */
import { runService } from "@loopledger/composition/crew/service";
import { readConfig } from "./config.ts";
import { startGateway } from "./gateway.ts";

await runService(readConfig, { name: "gateway", roles: () => ({ gateway: startGateway }), runsHandlers: false });
