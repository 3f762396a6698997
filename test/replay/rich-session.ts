/** The story behind the first recorded history: a small session in which much goes wrong and everything ends well. */
import { values } from "@loopledger/shared/core/session/persistent-map";
import type { Act } from "@loopledger/shared/testing";
import { Story, actionOf, actorOf, asks, claim, digestOfText, fails, fired, inconclusive, own, owed, passes, person, recordOf, reported, requested, submit, written } from "@loopledger/shared/testing";

const leaves = [{ id: "api", title: "Token endpoint answers 401", check: "api-tests" }, { id: "ui", title: "Login form shows it", after: ["api"] }];
const goal = {
  goal: "Make the login test pass 🔑", leaves, labels: { team: "web" }, budget: { iterations: 8, costUsd: 5, tokens: 100_000 },
  policy: { approvals: [{ before: "deploy" }, { everyIterations: 3, expiresSeconds: 600 }], children: { depth: 1, width: 1, total: 1 } },
} as const;
const shown = actionOf("deploy", { to: "production" });
const answer = (over: object): Act => person("approval_decided", { checkpoint: "cp-deploy", digest: shown.digest, decision: "APPROVE", comment: "go", ...over }, "bea");
const api = { check: "api-tests", checkDigest: digestOfText("api-tests") };
const approveLast = (story: Story) => written(story, person("approval_decided", {
  checkpoint: story.state.pending[0] ?? "none", decision: "APPROVE", comment: "",
  digest: values(story.state.checkpoints).find((one) => one.id === story.state.pending[0])?.digest ?? shown.digest,
}, "bea"));

function firstLeaf(story: Story): void {
  story.append(submit(goal as never)).append(owed()).append(claim("w-1")).append(claim("w-2", { epoch: 1 }));
  story.append(own("grounding", { scope: "issues", outcome: "partial" })).append(fails({ next_steps: ["see the leaves"] })).append(owed()).repeat();
  story.append(own("reserved", { id: "r-1", amounts: { costUsd: 1, tokens: 5000 } })).append(own("model", { usage: { costUsd: 0.2, tokensIn: 900, tokensOut: 100, model: "small", reservation: "r-1" } }));
  story.append(own("step", { name: "plan" })).append(asks("note:1", { tool: "note", contract: "lookup", fences: true }));
  const late = written(story, own("tool_result", { key: "note:1" }));
  story.append(claim("w-2")).append(late).append(own("model")).append(own("reconciled", { key: "note:1", outcome: "did_not_happen" }));
  story.append(asks("note:1", { tool: "note", contract: "lookup", fences: true })).append(own("tool_result", { key: "note:1", result: { id: 7 } }));
  story.append(own("retry")).append(fired("retry")).wait(4000).append(fired("retry")).append(person("guidance", { text: "mind the clock" }));
  story.append(own("built", { summary: "wrote the endpoint", revision: "r1", usage: { costUsd: 0.1 } })).append(owed());
  story.append(inconclusive(api)).wait(2000).append(fired("check")).append(owed()).append(own("grounding", { scope: "issues", outcome: "observed" }));
  story.append(fails({ ...api, next_steps: ["answer 401, not 403"] })).append(owed());
}
function protectedDeploy(story: Story): void {
  story.append(asks("deploy:production", { args: { to: "production" }, contract: "unsafe" })).append(answer({ decision: "PAUSE" }));
  story.append(own("approval_requested", { checkpoint: "cp-deploy", action: shown.action, digest: shown.digest })).append(answer({})).append(answer({ decision: "REJECT" }));
  story.append(asks("deploy:production", { args: { to: "production" }, contract: "unsafe", approval: "cp-deploy" })).append(claim("w-3")).append(reported());
  story.append(person("pause_requested")).append(person("reconciled", { key: "deploy:production", outcome: "happened", evidence: { ticket: 12 }, by: "bea" }));
  story.append(person("resumed")).append(claim("w-3")).append(own("cycle_failed", { message: "exit 1" })).append(owed());
}
function secondLeaf(story: Story): void {
  story.append(own("built", { summary: "401 it is", revision: "r2" })).append(owed()).append(passes({ ...api, revision: "r2" })).append(requested()).append(owed());
  story.append(approveLast).append(owed()).append(own("built", { revision: "r3" })).append(owed());
  story.append(passes({ revision: "r3" })).append(owed()).appendText('{"broken":').append({ ...recordOf("guidance"), actor: actorOf("scheduler") });
  story.append(fails({ revision: "r3", next_steps: ["the form is still green"] })).append(owed()).append(passes({ ...api, revision: "r3" })).append(owed());
  story.append(fails({ revision: "r3", next_steps: ["show the error"] }));
}
function finish(story: Story): void {
  for (let turns = 0; turns < 12 && !story.state.end; turns++) {
    if (story.state.requestOwed) story.append(requested());
    else if (story.state.pending.length > 0) story.append(approveLast);
    else if (story.state.owed) story.append(owed());
    else if (story.state.open?.cycle === "build") story.append(own("built", { revision: "r4", usage: { costUsd: 0.3, tokensIn: 10, tokensOut: 10 } }));
    else story.append(passes({ revision: "r4" }));
  }
  story.append(reported()).append(person("guidance"));
}

export function richSession(): Story {
  const story = new Story();
  for (const part of [firstLeaf, protectedDeploy, secondLeaf, finish]) part(story);
  return story;
}
