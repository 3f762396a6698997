/** Time, randomness and processes as the machine has them. */
export { createSystemClock } from "./clock.ts";
export { createSystemHost, type SystemHostOptions } from "./host.ts";
export { createSystemIds } from "./ids.ts";
