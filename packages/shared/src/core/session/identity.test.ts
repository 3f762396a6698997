import { describe, expect, it } from "vitest";
import { type Act, asks, begin, claim, own, owed, person, recordOf, submit, toBuild, toReview, written } from "../../testing/index.ts";
import type { Story } from "../../testing/index.ts";

const under = (eventId: string, act: Act): Act => (story) => ({ ...written(story, act), eventId: eventId as never });
const lastId = (story: Story): string => {
  const parsed = story.entries.at(-1)?.parsed;
  return parsed?.kind === "record" ? parsed.record.eventId : "";
};

describe("an eventId", () => {
  it.each([
    ["an owner's next record", own("grounding")], ["an owner's next claim", claim("W")], ["another owner's claim", claim("X")], ["a person's act", person("guidance")], ["an intent", asks("k")],
  ])("counts once: %s under an accepted one is a duplicate, under one of its own it counts", (_what, act) => {
    const story = begin([...toBuild(), own("error")]);
    story.when(under(lastId(story), act)).thenVoid("duplicate").given(act);
  });
  it("of a void record may still be used", () => {
    const story = begin(toBuild());
    story.when(under("late", own("grounding", {}, { n: 7 }))).thenVoid("gap").given(under("late", own("grounding")));
  });
  it("of a dispatch, a claim or an act is taken as well", () => {
    const story = begin([submit(), owed()]);
    story.when(under(lastId(story), claim("W"))).thenVoid("duplicate").given(claim("W"));
    story.when(under(lastId(story), own("error"))).thenVoid("duplicate").given(person("guidance"));
    story.when(under(lastId(story), own("error"))).thenVoid("duplicate").given(own("error"));
  });
});

describe("a record of another ledger", () => {
  const elsewhere = (act: Act): Act => (story) => ({ ...written(story, act), ledgerId: "ledger-of-before" });
  it.each([["an owner's", own("built")], ["a claim", claim("X")], ["a person's", person("guidance")]])("changes nothing: %s", (_what, act) => {
    begin(toBuild()).when(elsewhere(act)).thenVoid("malformed").given(act);
  });
  it("changes nothing where it is owed", () => {
    begin(toReview().slice(0, -1)).when(elsewhere(owed())).thenVoid("malformed").given(owed());
  });
});

describe("a record away from its session's home partition", () => {
  const later = (story: Story): string => JSON.stringify({ ...written(story, recordOf("guidance")), type: "guidance_withdrawn", actor: { kind: "human", id: "ann" } });
  it("is void whatever its type: one that this release does not know holds nothing", () => {
    const story = begin(toBuild());
    story.appendText(later(story), { partition: 1 });
    story.thenVoid("malformed");
    expect(story.state.hold).toBeNull();
    story.appendText(later(story));
    expect(story.state.hold).not.toBeNull();
  });
});

describe("an intent's digest", () => {
  it("is that of its arguments, also where nobody has to approve it", () => {
    const story = begin(toBuild());
    const asked = written(story, asks("k"));
    const digest = `sha256:${"0".repeat(64)}` as never;
    story.when({ ...asked, data: { ...asked.data, argsDigest: digest } } as never).thenVoid("malformed").given(asks("k"));
  });
});
