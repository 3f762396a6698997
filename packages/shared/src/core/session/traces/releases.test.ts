/** Two releases of the fold over one log agree up to where the older one holds. */
import { describe, expect, it } from "vitest";
import { begin, own, person, recordOf, submissionOf, toBuild, Story } from "../../../testing/index.ts";

describe("left out: what is unknown holds and never voids", () => {
  it("a field that a later release added holds the session, where void would let the older release go on differently", () => {
    const story = begin(toBuild());
    const built = own("built", { artifactDigest: "sha256:1" } as never);
    story.when(built).thenHeld().when(own("error")).thenHeld();
    expect(story.status).toMatchObject({ reason: "unknown_schema", asOf: 3 });
  });
  it("so does a type", () => {
    begin(toBuild()).when({ ...recordOf("guidance"), type: "note" as never }).thenHeld();
  });
  it("and a version of a type, and of the envelope", () => {
    begin(toBuild()).when({ ...recordOf("guidance"), typeVersion: 2 }).thenHeld();
    begin(toBuild()).when({ ...recordOf("guidance"), v: 2 as never }).thenHeld();
  });
  it("what a known version makes malformed is void in every release", () => {
    begin(toBuild()).when({ ...recordOf("guidance"), data: { text: 7 } as never }).thenVoid("malformed").given(person("guidance"));
  });
});

describe("left out: acceptance rules are pinned at submission", () => {
  it("a goal under later rules is held, not judged by those that this release happens to know", () => {
    new Story().when(recordOf("goal_submitted", submissionOf({}, { rules: 2 }))).thenHeld();
  });
});
