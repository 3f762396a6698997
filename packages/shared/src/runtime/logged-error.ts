/** An error as a log line says it: with its causes, and no text twice. Clients wrap an error in one that says the same again, or says it and more. */
import type { SerializedError } from "pino";

type Text = "message" | "stack";
const links: Readonly<Record<Text, string>> = { message: ": ", stack: "\ncaused by: " };

/** The text of the error and of each of its causes that says what was not said before it. */
export function withCauses(error: Error, text: Text): string {
  const seen = new Set<unknown>();
  let said = "";
  for (let one: unknown = error; one instanceof Error && !seen.has(one); one = one.cause) {
    seen.add(one);
    const more = one[text] ?? "";
    if (!said.includes(more)) said = said === "" ? more : `${said}${links[text]}${more}`;
  }
  return said;
}

/** Gives what `serialize` makes of an error, with these texts; what is no error stays what `serialize` makes of it. */
export function serializeOnce(serialize: (error: Error) => SerializedError): (error: Error) => SerializedError {
  return (error) => {
    const told = serialize(error);
    if (error instanceof Error) {
      told.message = withCauses(error, "message");
      told.stack = withCauses(error, "stack");
    }
    return told;
  };
}
