import { name } from "@loopledger/shared/core/events/fields";
import { z } from "zod";
import { checkKinds, handlerOf, makerKinds, messageOf, toolKinds } from "./definitions.ts";

/** The handlers of `loopledger.config.*`: makers, checks and tools by name. */
export const handlersConfig = z.strictObject({
  makers: z.record(name, handlerOf("maker", makerKinds)).default({}),
  checks: z.record(name, handlerOf("check", checkKinds)).default({}),
  tools: z.record(name, handlerOf("tool", toolKinds)).default({}),
});
export type HandlersConfig = z.output<typeof handlersConfig>;

/** The config is wrong: `faults` has all of them, each with the place where it stands. */
export class HandlersConfigInvalid extends Error {
  readonly code = "invalid_config";
  readonly next = "mend the config file and start again; `loopledger validate` checks it";
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

export function parseHandlersConfig(config: unknown): HandlersConfig {
  // Read once a start: a parser that zod writes and compiles for it first costs more than the reading.
  const parsed = handlersConfig.safeParse(config, { jitless: true });
  if (parsed.success) return parsed.data;
  const sections = Object.keys(handlersConfig.shape);
  throw new HandlersConfigInvalid(parsed.error.issues.map((issue) => {
    const place = issue.path.map(String).join(".");
    return place === "" ? messageOf(issue, sections) : `${place}: ${messageOf(issue, sections)}`;
  }));
}
