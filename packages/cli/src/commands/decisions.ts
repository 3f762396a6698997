/** `approve`, `reject`, `retry` and `modify ID CHECKPOINT`: a person's answer. */
import type { HumanDecision } from "@loopledger/shared/core/events/approval-decided";
import { decide } from "../acts/deciding.ts";
import { quoted } from "@loopledger/shared/core/shell-word";
import { type Register, example } from "../command.ts";
import { UsageError } from "../errors.ts";

const digestShape = /^sha256:[0-9a-f]{64}$/;

interface Options { readonly comment: string; readonly action?: string; readonly digest?: string }

function answering(word: string, decision: HumanDecision, description: string): Register {
  return (program, bind) => {
    const command = program.command(`${word} <id> <checkpoint>`).description(description)
      .option("--comment <text>", "why, for the record", "").option("--digest <sha256>", "of what you were shown, where that was elsewhere");
    if (decision === "MODIFY") command.option("--action <json>", "what is to be done instead");
    command
      .addHelpText("after", example(decision === "MODIFY"
        ? `loopledger modify fix-login cp-12ab --action '{"tool": "deploy", "args": {"to": "staging"}}'`
        : `loopledger ${word} fix-login cp-12ab --comment 'looked at the diff'`))
      .action(bind<Options>((context, [id = "", checkpoint = ""], { comment, action, digest }) => {
        if (digest !== undefined && !digestShape.test(digest)) {
          throw new UsageError(`--digest takes sha256: and 64 hexadecimal digits, not "${digest.slice(0, 80)}".`, { next: `\`loopledger approvals show ${quoted(id)} ${quoted(checkpoint)} --json\` shows it.` });
        }
        return decide(context, id, { checkpoint, decision, comment, action, digest });
      }));
  };
}

export const approve = answering("approve", "APPROVE", "lets exactly the proposed action through");
export const reject = answering("reject", "REJECT", "refuses the proposed action and ends the session");
export const retry = answering("retry", "RETRY", "has the step run again");
export const modify = answering("modify", "MODIFY", "lets another action through than the proposed one");
