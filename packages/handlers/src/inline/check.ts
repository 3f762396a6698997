import type { CheckRun, CheckTask } from "@loopledger/shared/core/effects/handling";
import type { Running } from "@loopledger/shared/ports";
import type { CheckDefinition } from "../config/definitions.ts";
import { inconclusive, readValidation, validationBytesMax } from "../results/validation.ts";
import { readJson } from "../results/json-text.ts";
import { stepGate } from "../steps/gate.ts";
import { messageOf } from "./maker.ts";
import { runFunction } from "./run.ts";
import { checkTask } from "./task.ts";

type FnCheck = Extract<CheckDefinition, { kind: "fn" }>;

/** A check that is a function. What it returns is what `validation.json` holds; whatever it throws is INCONCLUSIVE. */
export async function runFnCheck(definition: FnCheck, task: CheckTask, running: Running & { timeoutSeconds: number }): Promise<CheckRun> {
  const gate = stepGate(task.steps, { tools: false });
  const settled = await runFunction(
    (told) => definition.fn(checkTask(task, { gate, told })),
    { timeoutSeconds: running.timeoutSeconds, signal: running.signal },
  );
  gate.close();
  if (settled.kind === "stopped" || gate.left() === "stopped") return inconclusive("told to stop", { verdict: "STOPPED" });
  switch (settled.kind) {
    case "timeout":
      return inconclusive(`the check did not end within ${running.timeoutSeconds} s`);
    case "threw":
      return inconclusive(`the check threw: ${messageOf(settled.error)}`);
    case "returned":
      return returned(settled.value);
    default:
      return settled satisfies never;
  }
}

function returned(value: unknown): CheckRun {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    return inconclusive(`what the check returned is no JSON: ${messageOf(error)}`);
  }
  if (text === undefined) return inconclusive("the check returned nothing");
  if (text.length > validationBytesMax) return inconclusive(`what the check returned is larger than ${validationBytesMax} bytes`);
  const read = readJson(text);
  return read.ok ? readValidation(read.value) : inconclusive(`what the check returned is ${read.why}`);
}
