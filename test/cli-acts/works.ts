/** The work of the stories: a maker that counts, and a check that is green from an iteration on. */
import type { FnCheckTask, FnMakerTask, HandlersConfigInput } from "@loopledger/handlers/index";

export function greenFrom(iteration: number, maker?: (task: FnMakerTask) => unknown, tools: HandlersConfigInput["tools"] = {}): HandlersConfigInput {
  const build = async (task: FnMakerTask): Promise<unknown> => {
    await maker?.(task);
    return { summary: `change ${task.iteration}`, revision: `r${task.iteration}` };
  };
  const judge = (task: FnCheckTask): unknown =>
    task.iteration >= iteration
      ? { verdict: "PASS", evidence: { remaining: 0 }, next_steps: [] }
      : { verdict: "FAIL", evidence: { remaining: iteration - task.iteration }, next_steps: [`mend ${task.iteration + 1}`] };
  return { makers: { maker: { fn: build } }, checks: { check: { fn: judge } }, tools };
}
