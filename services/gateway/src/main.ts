/** The gateway as a process of its own on a data folder. */
import { join } from "node:path";
import { openFolderBlobs } from "@loopledger/shared/blobs";
import type { Handlers } from "@loopledger/shared/ports";
import { makeEngine, makeLog, restoreFolds } from "@loopledger/shared/runtime";
import { readSettings } from "@loopledger/shared/runtime/config";
import { openSqliteLedger, openSqliteOwnership, openSqliteReadModel } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import { readConfig } from "./config.ts";
import { startGateway } from "./gateway.ts";

const clock = createSystemClock();
const ids = createSystemIds();
const settings = readSettings(clock);
const { folder, port } = readConfig();
const log = await makeLog(settings.logLevel ?? "info", { role: "gateway" });
const ledger = openSqliteLedger({ folder, clock, ids, log: (error) => log.error({ err: error }, "ledger") });
const views = openSqliteReadModel({ folder, ledgerId: ledger.ledgerId });
const ownership = openSqliteOwnership({ folder, clock });
const blobs = openFolderBlobs({ folder: join(folder, "blobs"), clock, ids });
const handlers: Handlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };
const engine = makeEngine({ ledger, views, ownership, blobs, clock, ids, host: createSystemHost(), handlers }, { ...settings, log });

const asked = new Promise<void>((resolve) => {
  process.once("SIGINT", () => resolve());
  process.once("SIGTERM", () => resolve());
});
await restoreFolds(engine);
const gateway = await startGateway(engine, { port });
process.stdout.write(`ready ${gateway.url}\n`);
await asked;
await gateway.stop();
await engine.folds.close();
await views.close();
await ownership.close();
await ledger.close();
