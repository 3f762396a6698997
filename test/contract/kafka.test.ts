import { ledgerContract } from "@loopledger/shared/contracts";
import * as vitest from "vitest";
import { makeLedgerTopic } from "./kafka-topic.ts";

ledgerContract(vitest, "kafka", async () => makeLedgerTopic());
