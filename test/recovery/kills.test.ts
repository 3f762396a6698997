/** Every failpoint with real processes on SQLite: killed there, stopped there beyond the lease and woken again, and made to throw there. */
import { faults } from "../support/worlds/fault-plan.ts";
import { folderGrounds } from "../support/worlds/grounds.ts";
import { faultMatrix } from "./fault-matrix.ts";

faultMatrix({ where: "", faults, makeGrounds: () => Promise.resolve(folderGrounds) });
