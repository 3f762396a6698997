/**
 * A process of its own on a data folder that kills itself inside SQLite's work: `dying-ledger <folder> <statement> <records>` opens the
 * ledger and appends so many records, and dies by SIGKILL right before it runs a statement that begins with the given text.
 */
import { type SQLInputValue, StatementSync } from "node:sqlite";
import type { SessionId } from "@loopledger/shared/core/brand";
import { openSqliteLedger } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";

const [folder, statement, records] = process.argv.slice(2);
if (folder === undefined || statement === undefined) throw new Error("A data folder and a statement are needed.");
const { run } = StatementSync.prototype;
Object.defineProperty(StatementSync.prototype, "run", {
  value(this: StatementSync, ...values: SQLInputValue[]) {
    if (this.sourceSQL.startsWith(statement)) process.kill(process.pid, "SIGKILL");
    return Reflect.apply(run, this, values);
  },
});

const ledger = openSqliteLedger({ folder, clock: createSystemClock(), ids: createSystemIds() });
for (let number = 0; number < Number(records); number += 500) {
  await Promise.all(Array.from({ length: 50 }, (_, session) =>
    ledger.append(`s-${session}` as SessionId, Array.from({ length: 10 }, (_, i) => `${number}/${i}`))));
  process.stdout.write(`acked ${number + 500}\n`);
}
await ledger.close();
