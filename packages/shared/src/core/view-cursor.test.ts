import { describe, expect, it } from "vitest";
import type { SessionId } from "./brand.ts";
import { formatViewCursor, parseViewCursor } from "./view-cursor.ts";

describe("a cursor of a list of views", () => {
  it("comes back for every id that a session may have, and for every stray key that may have a view", () => {
    for (const sessionId of ["a", "x".repeat(128), "orders:42_b.c-d", "y".repeat(160), "no session~id\n", "ä"] as SessionId[]) {
      expect(parseViewCursor(formatViewCursor({ at: 17, sessionId }))).toEqual({ at: 17, sessionId });
    }
  });
  it("is none without its time or its id", () => {
    for (const text of ["", "17", "17~", "x~a", "-1~a", "~a"]) expect(() => parseViewCursor(text), text).toThrow("This is no cursor");
  });
});
