/** `guide ID TEXT`: advice for the next build. It never changes the goal. */
import { perform } from "../acts/perform.ts";
import { type Register, example } from "../command.ts";
import { UsageError } from "../errors.ts";

export const register: Register = (program, bind) => {
  program.command("guide <id> <text>").description("advice that the next build is given, behind its task")
    .addHelpText("after", example("loopledger guide fix-login 'look at the session cookie first'"))
    .action(bind((context, [id = "", text = ""]) => {
      if (text.trim() === "") throw new UsageError("The advice is empty.");
      return perform(context, id, { draft: { type: "guidance", data: { text } }, sentence: "The next build is given this advice." });
    }));
};
