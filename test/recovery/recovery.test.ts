/** The four recovery promises on every embedded adapter, inside one process, with real processes and with the command. */
import { folderGrounds } from "../support/worlds/grounds.ts";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { sqliteWorld } from "../support/worlds/sqlite-world.ts";
import { promisesInside, promisesOfTheCommand, promisesWithProcesses } from "./promises.ts";

promisesInside("memory", () => memoryWorld());
promisesInside("SQLite in one process", () => sqliteWorld());
promisesWithProcesses("SQLite", () => Promise.resolve(folderGrounds));
promisesOfTheCommand("SQLite", () => Promise.resolve(folderGrounds));
