import { LoopledgerError } from "@loopledger/shared/core/errors";
import { InvalidSettings } from "@loopledger/shared/runtime/config";
import { describe, expect, test } from "vitest";
import { UsageError, describeError, errorText, unknownSession } from "../src/errors.ts";

describe("what is thrown becomes a sentence, what to do next and a code", () => {
  test.each([
    [new UsageError("No."), "usage", 2],
    [unknownSession("x", "/data"), "unknown_session", 2],
    [new LoopledgerError("ledger_unreachable", "It is gone."), "ledger_unreachable", 7],
    [new LoopledgerError("invalid_cursor", "It is none."), "invalid_cursor", 2],
    [new InvalidSettings(["LOOPLEDGER_LEASE_MS: too small"]), "invalid_settings", 2],
    [Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", errno: -28, syscall: "write" }), "disk_full", 7],
    [Object.assign(new Error("EDQUOT: disk quota exceeded, open 'x'"), { code: "EDQUOT" }), "disk_full", 7],
    [Object.assign(new Error("EACCES: permission denied, open '/x'"), { code: "EACCES", path: "/x", syscall: "open" }), "file_unusable", 2],
    [Object.assign(new Error("EISDIR: illegal operation on a directory, open '/x'"), { code: "EISDIR", path: "/x" }), "file_unusable", 2],
    [Object.assign(new Error("ENOENT: no such file or directory, uv_cwd"), { code: "ENOENT" }), "internal_error", 1],
    [Object.assign(new Error("EINVAL: invalid argument, write"), { code: "EINVAL" }), "internal_error", 1],
    [new Error("surprise"), "internal_error", 1],
    ["a text", "internal_error", 1],
  ])("%s", (error, code, exitCode) => {
    const described = describeError(error);
    expect(described).toMatchObject({ code, exitCode });
    expect(described.next.length).toBeGreaterThan(10);
  });
  test("a place that cannot be used is named, with why, and never taken for a mistake of the program", () => {
    for (const [code, why] of [["EACCES", "this user may not use it"], ["ENOTDIR", "a part of its path is no folder"], ["ELOOP", "its links lead in a circle"]] as const) {
      const { message, next } = describeError(Object.assign(new Error(`${code}: …`), { code, path: "/some/place" }));
      expect(message).toBe(`/some/place cannot be used: ${why} (${code}).`);
      expect(next).toMatch(/^(Give|Mend)/);
    }
  });
  test("with --json it is one document", () => {
    const text = errorText(describeError(new UsageError("Two things.", { faults: ["one", "two"] })), true);
    expect(JSON.parse(text)).toEqual({ error: { code: "usage", message: "Two things.", next: "See the same command with --help.", faults: ["one", "two"], exitCode: 2 } });
  });
});
