/**
 * A process of its own on a data folder, for the tests of several processes:
 *   write <folder> <name> <writers>   appends batches of three for ever; prints `acked <session> <number>` for each
 *   echo <folder>                     prints `saw <value> <monotonic milliseconds>` for each entry of session `ping`
 *   idle <folder>                     subscribes and does nothing
 *   hold <folder>                     begins a transaction on the ledger's file and never ends it
 * Each prints `ready` once it is under way.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { Ledger } from "@loopledger/shared/ports";
import { openSqliteLedger } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";

const clock = createSystemClock();
const say = (line: string): unknown => process.stdout.write(`${line}\n`);

async function write(ledger: Ledger, name: string, writers: number): Promise<void> {
  say("ready");
  await Promise.all(Array.from({ length: writers }, async (_, writer) => {
    const session = `${name}-${writer}` as SessionId;
    for (let number = 1; ; number++) {
      await ledger.append(session, [1, 2, 3].map((part) => `${number}/${part}`));
      say(`acked ${session} ${number}`);
    }
  }));
}

async function echo(ledger: Ledger): Promise<void> {
  await ledger.subscribe(await ledger.end(), (entries) => {
    const now = clock.monotonic();
    for (const { key, value } of entries) {
      if (key === "ping") say(`saw ${value} ${now}`);
    }
  });
  say("ready");
}

async function idle(ledger: Ledger): Promise<void> {
  const subscription = await ledger.subscribe(new Map([[0, 0 as Offset]]), () => {});
  await subscription.caughtUp();
  say("ready");
}

function hold(folder: string): void {
  const db = new DatabaseSync(join(folder, "ledger.db"));
  db.exec("BEGIN IMMEDIATE");
  process.on("exit", () => db.close());
  say("ready");
}

const [mode, folder, name, writers] = process.argv.slice(2);
if (folder === undefined) throw new Error("A data folder is needed.");
const ledger = openSqliteLedger({ folder, clock, ids: createSystemIds() });
// Whoever started this process ends it; until then something has to keep it alive.
process.stdin.on("end", () => process.exit(0)).resume();
switch (mode) {
  case "write":
    await write(ledger, name ?? "writer", Number(writers ?? 1));
    break;
  case "echo":
    await echo(ledger);
    break;
  case "idle":
    await idle(ledger);
    break;
  case "hold":
    hold(folder);
    break;
  default:
    throw new Error(`Unknown mode ${mode}.`);
}
