import { describe, expect, it } from "vitest";
import { bytesOf, begin, claim, foldAll, own, person, reported, toBuild } from "../../testing/index.ts";
import type { Offset } from "../brand.ts";
import { canonicalJson } from "../json.ts";
import { isAlive, readSnapshot, writeSnapshot } from "./snapshot.ts";

/** A log whose last entries are refused, so that the last accepted one is not the last one folded. */
const refusedLast = () => begin(toBuild({ owner: "P" })).when(own("error", {}, { epoch: 9 as never })).thenVoid("gap").when(claim("Q", { epoch: 1 })).thenVoid("rival");

describe("a snapshot", () => {
  it("goes on at the next offset to fold, so that what was refused is counted once", () => {
    const story = refusedLast();
    const next = story.entries.length as Offset;
    const text = writeSnapshot({ state: story.state, next });
    story.given(own("built"), person("guidance")).when(claim("R", { epoch: 1 })).thenVoid("rival");
    const read = readSnapshot(text);
    expect(read?.next).toBe(next);
    const rest = story.entries.slice(read?.next);
    const state = read?.state;
    expect(state && canonicalJson(foldAll(rest, { from: state }).state)).toBe(bytesOf(story));
    const behindTheLastAccepted = story.entries.slice((state?.position?.offset ?? 0) + 1);
    expect(state && canonicalJson(foldAll(behindTheLastAccepted, { from: state }).state)).not.toBe(bytesOf(story));
  });

  const whole = JSON.parse(writeSnapshot({ state: refusedLast().state, next: 5 as Offset })) as { readonly format: number; readonly state: object };
  it.each([
    ["another format", { ...whole, format: whole.format + 1 }], ["a member more", { ...whole, state: { ...whole.state, later: 1 } }],
    ["a member less", { ...whole, state: { ...whole.state, owed: undefined } }], ["no next offset", { ...whole, next: "5" }], ["no state", { ...whole, state: null }],
    ["no snapshot at all", [1]], ["nothing", null],
  ])("of another form is none: %s", (_name, value) => {
    expect(readSnapshot(JSON.stringify(value))).toBeNull();
  });
  it("that is no JSON is none", () => {
    expect(readSnapshot('{"format":')).toBeNull();
  });
  it("is kept while somebody may still have to act: an end counts once its report is written", () => {
    const story = begin([...toBuild(), person("cancel_requested")]);
    expect(isAlive(story.state)).toBe(true);
    expect(isAlive(story.given(reported()).state)).toBe(false);
  });
});
