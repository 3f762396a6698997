import { expect, test } from "vitest";
import type { Environment } from "../src/environment.ts";
import { typable } from "../src/hints.ts";

const calling = {
  environment: { variables: { PATH: "" }, url: null, dataFolder: null } as unknown as Environment,
  cwd: "/home/ann/project", dataFolder: "/home/ann/project/.loopledger", configPath: null, url: null,
};
const flagsOf = (text: string, over: Partial<typeof calling> | { readonly url: string } = {}): string => typable(text, { ...calling, ...over }).replace(/^\S+ /, "");

test("a command that is told gets the flags that lead to the same ledger, where they are not what is found by itself", () => {
  expect(flagsOf("loopledger status s")).toBe("status s");
  expect(flagsOf("loopledger status s", { dataFolder: "/data/one two" })).toBe("status s --data '/data/one two'");
  expect(flagsOf("loopledger status s", { url: "http://127.0.0.1:9" })).toBe("status s --url http://127.0.0.1:9");
});
test("flags go before the shell comment that names another way", () => {
  expect(flagsOf("loopledger resume s  # or, to accept this one: with --accept-check", { dataFolder: "/data" })).toBe("resume s --data /data  # or, to accept this one: with --accept-check");
});
test("what never goes through a gateway is not told to", () => {
  expect(flagsOf("loopledger serve --roles gateway", { url: "http://127.0.0.1:9" })).toBe("serve --roles gateway");
});
test("in a text only what stands between backticks is a command", () => {
  expect(typable("See loopledger, or `loopledger ls`.", { ...calling, url: "http://h:1" as never })).toMatch(/^See loopledger, or `\S+ ls --url http:\/\/h:1`\.$/);
});
