/** `cancel ID`: no new dispatch from here; it takes effect as soon as no call is open. */
import { perform } from "../acts/perform.ts";
import { type Register, example } from "../command.ts";

export const register: Register = (program, bind) => {
  program.command("cancel <id>").description("ends a session; a call whose outcome is unknown is settled first")
    .option("--reason <text>", "why, for the record", "").addHelpText("after", example("loopledger cancel fix-login --reason 'not wanted any more'"))
    .action(bind<{ reason: string }>((context, [id = ""], { reason }) => perform(context, id, {
      draft: { type: "cancel_requested", data: { reason } }, sentence: "It was told to end; nothing new is begun.",
    })));
};
