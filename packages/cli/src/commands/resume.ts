/** `resume ID`: ends a pause or a suspension, or re-opens what was handed off. */
import { refuseAgents } from "../acts/agents.ts";
import { perform } from "../acts/perform.ts";
import { type Register, example } from "../command.ts";

interface Options { readonly acceptCheck?: boolean; readonly reason: string }

export const register: Register = (program, bind) => {
  program.command("resume <id>").description("goes on after a pause, a suspension or a hand-off")
    .option("--accept-check", "take the changed check as the pinned one from here on").option("--reason <text>", "why, for the record", "")
    .addHelpText("after", example("loopledger resume fix-login", "loopledger resume fix-login --accept-check"))
    .action(bind<Options>((context, [id = ""], { acceptCheck = false, reason }) => {
      if (acceptCheck) refuseAgents(context, "Accepting a changed check");
      return perform(context, id, { draft: { type: "resumed", data: { acceptCheck, reason } }, sentence: acceptCheck ? "It is resumed, and the changed check is the pinned one from here on." : "It is resumed." });
    }));
};
