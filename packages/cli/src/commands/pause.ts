/** `pause ID`: no new dispatch from here. `pause ID CHECKPOINT`: the answer that leaves a decision open. */
import { decide } from "../acts/deciding.ts";
import { perform } from "../acts/perform.ts";
import { type Register, example } from "../command.ts";

interface Options { readonly now?: boolean; readonly reason: string; readonly comment: string }

export const register: Register = (program, bind) => {
  program.command("pause <id> [checkpoint]").description("pauses a session after its cycle, or at once; with a checkpoint: leaves that decision open")
    .option("--now", "at once: the running cycle is stopped").option("--reason <text>", "why, for the record", "").option("--comment <text>", "with a checkpoint: a comment", "")
    .addHelpText("after", example("loopledger pause fix-login --now", "loopledger pause fix-login cp-12ab --comment 'asking the owner of the service'"))
    .action(bind<Options>((context, [id = "", checkpoint], { now = false, reason, comment }) => {
      if (checkpoint !== undefined) return decide(context, id, { checkpoint, decision: "PAUSE", comment });
      return perform(context, id, {
        draft: { type: "pause_requested", data: { now, reason } }, sentence: now ? "It pauses at once; `resume` goes on." : "It pauses after this cycle; `resume` goes on.",
      });
    }));
};
