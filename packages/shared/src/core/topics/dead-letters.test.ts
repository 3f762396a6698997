import { describe, expect, it } from "vitest";
import { headersOfNotes, keptName, notesOfHeaders, originalName, positionName, replayedHeader } from "./dead-letters.ts";

const notes = { source: { topic: "goals", partition: 3, offset: 42 }, reason: "schema", detail: "goal: required", at: "2030-01-01T00:00:00.000Z", cutFrom: null };

describe("a dead letter", () => {
  it("has the id of its source's position, the same for everybody who sets that record aside", () => {
    expect(positionName(notes.source)).toBe("goals-3-42");
    expect(positionName({ ...notes.source, offset: 43 })).not.toBe(positionName(notes.source));
    expect(positionName(notes.source)).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
  });
  it.each(["trace", "reason", "original-reason", "original-original-x", "source-topic", "cut-from", "at", replayedHeader])("gives back the original's header %s under its own name", (name) => {
    expect(originalName(keptName(name))).toBe(name);
    expect(Object.keys(headersOfNotes({ ...notes, cutFrom: 9 }))).not.toContain(keptName(name));
  });
  it("reads its notes back as they were written", () => {
    expect(notesOfHeaders(headersOfNotes(notes))).toEqual(notes);
    expect(notesOfHeaders(headersOfNotes({ ...notes, cutFrom: 1_000_000 }))).toEqual({ ...notes, cutFrom: 1_000_000 });
  });
  it.each([
    ["no headers", {}], ["no reason", { ...headersOfNotes(notes), reason: undefined }], ["no topic", { ...headersOfNotes(notes), "source-topic": undefined }],
    ["a partition that is no number", { ...headersOfNotes(notes), "source-partition": "x" }], ["an offset below zero", { ...headersOfNotes(notes), "source-offset": "-1" }],
  ])("is none with %s", (_name, headers) => {
    expect(notesOfHeaders(Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<string, string>)).toBeNull();
  });
});
