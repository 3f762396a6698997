/** The four recovery promises on Kafka and Redis, inside one process, with real processes and with the command. */
import { distributedGrounds } from "../support/worlds/distributed-grounds.ts";
import { distributedWorld } from "../support/worlds/distributed-world.ts";
import { promisesInside, promisesOfTheCommand, promisesWithProcesses } from "./promises.ts";

promisesInside("Kafka and Redis in one process", () => distributedWorld());
promisesWithProcesses("Kafka and Redis", () => distributedGrounds("recovery"));
promisesOfTheCommand("Kafka and Redis", () => distributedGrounds("recovery"));
