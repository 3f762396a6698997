/** The projector as a process of its own on a data folder. */
import { join } from "node:path";
import { openFolderBlobs } from "@loopledger/shared/blobs";
import type { Handlers } from "@loopledger/shared/ports";
import { makeEngine, makeLog } from "@loopledger/shared/runtime";
import { readSettings } from "@loopledger/shared/runtime/config";
import { openSqliteLedger, openSqliteOwnership, openSqliteReadModel } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import { exitCodeOf, readConfig } from "./config.ts";
import { startProjector } from "./projector.ts";

const clock = createSystemClock();
const ids = createSystemIds();
const settings = readSettings(clock);
const { folder, options } = readConfig();
const log = await makeLog(settings.logLevel ?? "info", { role: "projector" });
const ledger = openSqliteLedger({ folder, clock, ids, log: (error) => log.error({ err: error }, "ledger") });
const views = openSqliteReadModel({ folder, ledgerId: ledger.ledgerId });
const ownership = openSqliteOwnership({ folder, clock });
const blobs = openFolderBlobs({ folder: join(folder, "blobs"), clock, ids });
const handlers: Handlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };
const engine = makeEngine({ ledger, views, ownership, blobs, clock, ids, host: createSystemHost(), handlers }, { ...settings, log });

const asked = new Promise<null>((resolve) => {
  process.once("SIGINT", () => resolve(null));
  process.once("SIGTERM", () => resolve(null));
});
// The clock's timers do not keep the process alive; this one does.
const alive = setInterval(() => undefined, 60_000);
const projector = await startProjector(engine, options);
process.stdout.write("ready\n");
const reason = await Promise.race([asked, projector.over]);
await projector.stop();
clearInterval(alive);
await views.close();
await ownership.close();
await ledger.close();
process.exitCode = exitCodeOf(reason);
