import { describe, expect, it } from "vitest";
import { actorOf, asks, begin, digestOfText, own, person, recordOf, requested, sha256, toBuild, written } from "../../testing/index.ts";
import type { DataOf } from "../events/index.ts";
import { checkpointViews } from "./checkpoint-view.ts";
import { decide as decideNext } from "./decide.ts";
import { lookUp } from "./persistent-map.ts";

const asked = (bounds = {}) => begin([...toBuild({ bounds }), own("approval_requested")]);
const decided = (over: Partial<DataOf<"approval_decided">> = {}, id = "boss") => person("approval_decided", over, id);
const decisionOf = (story: { readonly state: Parameters<typeof decideNext>[0] }) => lookUp(story.state.checkpoints, "cp-1")?.decision;

describe("a person's answer", () => {
  it("is bound to the digest of what was shown", () => {
    asked().when(decided({ digest: digestOfText("something else") })).thenVoid("key_conflict").given(decided());
  });
  it("the first in log order wins: an equal repeat is a duplicate, a contradiction a conflict that changes nothing", () => {
    const story = asked().given(decided()).when(decided()).thenVoid("duplicate").when(decided({ decision: "REJECT" })).thenVoid("key_conflict")
      .when(decided({ digest: digestOfText("other") })).thenVoid("key_conflict");
    expect(decisionOf(story)).toBe("APPROVE");
  });
  it("an equal MODIFY has an equal action", () => {
    const modify = (args: object) => decided({ decision: "MODIFY", action: { tool: "deploy", args } as never });
    asked().given(modify({ to: "a" })).when(modify({ to: "a" })).thenVoid("duplicate").when(modify({ to: "b" })).thenVoid("key_conflict");
    asked().when(decided({ decision: "MODIFY" })).thenVoid("malformed");
  });
  it("MODIFY that points to a call which is settled already is served by it, and nothing is made again", () => {
    const settled = [asks("k1"), own("tool_result", { key: "k1", outcome: "confirmed" }), own("approval_requested")];
    const points = (to: string) => begin([...toBuild(), ...settled]).given(decided({ decision: "MODIFY", action: { tool: "deploy", args: { to } } as never }));
    const next = (story: ReturnType<typeof points>) => decideNext(story.state, { ownerId: story.state.owner?.id as never, serves: ["build", "review"], carries: true, ownerIs: "live" });
    expect(next(points("k1"))).toEqual({ do: "run", cycle: "build" });
    expect(lookUp(points("k1").state.checkpoints, "cp-1")?.servedKey).toBe("k1");
    expect(next(points("elsewhere"))).toMatchObject({ do: "perform" });
  });
  it("the same record once more is a duplicate", () => {
    asked().given(decided()).repeat().thenVoid("duplicate");
  });
  it("PAUSE stays waiting, and a later decision is no contradiction", () => {
    const story = asked().given(decided({ decision: "PAUSE" }), decided({ decision: "PAUSE" }));
    expect(story.status).toMatchObject({ disposition: "waiting", reason: "approval" });
    story.given(decided());
    expect(decisionOf(story)).toBe("APPROVE");
  });
  it("does not come from who requested it", () => {
    const story = begin([...toBuild(), own("approval_requested", {}, { actor: actorOf("worker", "ann") })]);
    story.when(decided({}, "ann")).thenVoid("forbidden").given(decided({}, "boss"));
  });
  it("with four eyes not from the submitter either", () => {
    begin([...toBuild({ bounds: { fourEyes: true } }), own("approval_requested")]).when(decided({}, "ann")).thenVoid("forbidden").given(decided({}, "boss"));
    asked().given(decided({}, "ann"));
  });
  it("to what a person called for from outside may be that person's, who wanted to look; with four eyes it is another's", () => {
    const called = (fourEyes: boolean) => begin([...toBuild({ bounds: { fourEyes } }), person("checkpoint_requested", {}, "olga"), requested()]);
    const answers = (who: string) => (story: ReturnType<typeof called>) => {
      const known = lookUp(story.state.checkpoints, story.state.pending[0] ?? "");
      return written(story, decided({ checkpoint: known?.id ?? "none", digest: known?.digest as never, decision: "APPROVE" }, who));
    };
    called(false).given(answers("olga") as never);
    called(true).when(answers("olga") as never).thenVoid("forbidden").given(answers("boss") as never);
    expect(checkpointViews(called(true).state, { now: 0 as never, sha256 })).toMatchObject([{ trigger: "external", requestedBy: "olga" }]);
  });
  it("only people answer", () => {
    asked().when(recordOf("approval_decided", {}, { actor: actorOf("scheduler") })).thenVoid("forbidden");
  });
});

describe("a request", () => {
  it("shows an action whose digest it carries, once an id", () => {
    begin(toBuild()).when(own("approval_requested", { digest: digestOfText("other") })).thenVoid("malformed")
      .given(own("approval_requested")).when(own("approval_requested")).thenVoid("duplicate");
  });
  it("of the policy is not written by an owner in the scheduler's place", () => {
    const story = begin([...toBuild(), person("checkpoint_requested")]);
    story.when(own("approval_requested", {}, { epoch: undefined, ownerId: undefined, n: undefined, actor: actorOf("scheduler") })).thenVoid("not_owed").given(requested());
  });
});

describe("an answer before its request", () => {
  const early = (...answers: Parameters<typeof decided>[0][]) => begin([...toBuild(), ...answers.map((one) => decided(one))]);
  it("is kept and matched when the request comes", () => {
    const story = early({}).given(own("approval_requested"));
    expect(decisionOf(story)).toBe("APPROVE");
    expect(story.state.pending).toEqual([]);
    expect(early({ decision: "REJECT" }).given(own("approval_requested")).status.reason).toBe("approval_rejected");
  });
  it("on another action is not matched, and may be given again", () => {
    const story = early({ digest: digestOfText("other") }).given(own("approval_requested"));
    expect(story.status.reason).toBe("approval");
    story.given(decided());
  });
  it("of who then requests it does not count", () => {
    const story = early({}).given(own("approval_requested", {}, { actor: actorOf("worker", "boss") }));
    expect(story.status.reason).toBe("approval");
    story.when(decided({}, "boss")).thenVoid("forbidden").given(decided({}, "other"));
  });
  it("the first one counts; PAUSE is none", () => {
    early({}).when(decided()).thenVoid("duplicate").when(decided({ decision: "REJECT" })).thenVoid("key_conflict");
    expect(decisionOf(early({ decision: "PAUSE" }, {}).given(own("approval_requested")))).toBe("APPROVE");
  });
  it("lets nothing through by itself", () => {
    const action = { tool: "deploy", args: {} } as never;
    const story = early({ decision: "MODIFY", action });
    expect(decideNext(story.state, { ownerId: "W" as never, serves: ["build"], carries: true, ownerIs: "live" })).toEqual({ do: "run", cycle: "build" });
    const sly = { tool: "deploy", argsDigest: lookUp(asked().state.checkpoints, "cp-1")?.digest } as never;
    early({ decision: "MODIFY", action: sly }).when(own("tool_requested", { approval: "cp-1", argsDigest: (sly as { argsDigest: never }).argsDigest, args: { tool: "deploy", args: { to: "production" } } })).thenVoid("forbidden");
  });
});
