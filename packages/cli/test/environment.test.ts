import { userInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { readEnvironment } from "../src/environment.ts";

describe("who types", () => {
  it("is who the shell says", () => {
    expect(readEnvironment({ USER: "olga", LOGNAME: "other" }, () => "account").user).toBe("olga");
    expect(readEnvironment({ LOGNAME: "other" }, () => "account").user).toBe("other");
  });
  it("is the system's name for the account where no shell says it: two accounts are two principals", () => {
    expect(readEnvironment({ USER: "" }, () => "account").user).toBe("account");
    expect(readEnvironment({}).user).toBe(userInfo().username);
  });
});
