import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitWords } from "../src/running/words.ts";

const words = (command: string) => {
  const split = splitWords(command);
  return split.ok ? split.words : split.fault;
};

describe("a command is split into words as a POSIX shell does", () => {
  test.each([
    ["npm test", ["npm", "test"]],
    ["  npm \t test\n", ["npm", "test"]],
    [`sh -c 'exit 3'`, ["sh", "-c", "exit 3"]],
    [`a "b c" d`, ["a", "b c", "d"]],
    [`a'b'"c"d`, ["abcd"]],
    [`a ""`, ["a", ""]],
    [`a \\" b\\ c`, ["a", '"', "b c"]],
    [`a "x \\" \\$ \\n"`, ["a", 'x " $ \\n']],
    [`find . -name '*.ts' -exec rm {} \\;`, ["find", ".", "-name", "*.ts", "-exec", "rm", "{}", ";"]],
    ["echo $HOME #x", ["echo", "$HOME", "#x"]],
    ["a \\\nb", ["a", "b"]],
    ["größe 'ü'", ["größe", "ü"]],
  ])("%s", (command, expected) => {
    expect(words(command)).toEqual(expected);
  });

  test("any words come back as they were once each is quoted", () => {
    const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
    fc.assert(fc.property(fc.array(fc.string(), { minLength: 1 }), (given) => {
      const named = ["program", ...given];
      expect(words(named.map(quote).join(" "))).toEqual(named);
    }));
  });
});

describe("what cannot be split is refused with the reason", () => {
  test.each([
    [`a "b`, /quote " at position 3 is not closed/],
    [`a 'b`, /quote ' at position 3 is not closed/],
    ["a \\", /ends in a backslash/],
    ["", /names no program/],
    ["   ", /names no program/],
    [`''`, /names no program/],
    ["npm test && npm run lint", /& means something to a shell only/],
    ["a | b", /--shell/],
    ["a > b", /> means something/],
    ["a; b", /; means something/],
  ])("%j", (command, reason) => {
    expect(words(command)).toMatch(reason);
  });
});
