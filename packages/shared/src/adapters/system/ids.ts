import { hash, randomUUID } from "node:crypto";
import type { Ids } from "../../ports/index.ts";

export function createSystemIds(): Ids {
  return { uuid: () => randomUUID(), random: () => Math.random(), sha256: (text) => hash("sha256", text) };
}
