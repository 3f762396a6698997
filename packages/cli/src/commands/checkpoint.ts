/** `checkpoint ID`: asks for a human decision before the session goes on. */
import { perform } from "../acts/perform.ts";
import { type Register, example } from "../command.ts";

export const register: Register = (program, bind) => {
  program.command("checkpoint <id>").description("asks for a human decision before the session goes on")
    .requiredOption("--reason <text>", "what is to be looked at").addHelpText("after", example("loopledger checkpoint fix-login --reason 'let me see the diff first'"))
    .action(bind<{ reason: string }>((context, [id = ""], { reason }) => perform(context, id, {
      draft: { type: "checkpoint_requested", data: { reason } }, sentence: "It asks for a decision before it goes on; `loopledger approvals` shows it.",
    })));
};
