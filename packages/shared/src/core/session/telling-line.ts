/** Which line of what a check printed a person is shown. It never makes up a word that was not printed. */

/** What test runners print around a failure: comments with figures, frames of a stack, brackets, and the fields of a diagnostic. */
const around = [
  /^#/, /^at /, /^[\p{P}\p{S}\s]*$/u, /^\(operator\b/,
  /^(?:duration_ms|type|location|failureType|code|name|expected|actual|operator|stack|error|generatedMessage|diff): ?(?:['"|[{\d-]|true|false|null|undefined|$)/,
];
/** A test or an error by its name. */
const named = /^not ok\b|^[✖✗✘×] |^AssertionError\b|\b\w*Error(?: \[\w+\])?:/u;
const speaking = /fail|error|expected/i;

/** The last line that names what failed, else the last that speaks of a failure, else the last words; null where there are none. */
export function tellingLine(output: string): string | null {
  const lines = output.split("\n").map((line) => line.trim()).filter((line) => /\p{L}{2}/u.test(line));
  const telling = lines.filter((line) => !around.some((one) => one.test(line)));
  const errors = telling.filter((line) => named.test(line));
  return errors.at(-1) ?? telling.findLast((line) => speaking.test(line)) ?? telling.at(-1) ?? lines.at(-1) ?? null;
}
