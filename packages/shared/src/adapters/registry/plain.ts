/** The schemas where no registry is configured: records are written as plain JSON, and read in either form. */
import type { Schemas } from "../../ports/index.ts";
import { readWire, textOf } from "./wire.ts";

export function createPlainSchemas(): Schemas {
  return {
    encode: async (_topic, text) => new TextEncoder().encode(text),
    decode: async (_topic, bytes) => textOf(readWire(bytes)?.payload ?? bytes),
  };
}
