/** `doctor`: is everything set as it must be? */
import { type Register, example } from "../command.ts";
import { findAll } from "../checking/findings.ts";
import { exitCodes } from "../exit-codes.ts";

export const register: Register = (program, bind) => {
  program.command("doctor")
    .description("Checks this installation, the data folder and the config; leaves with 1 where something is wrong, and says what mends it.")
    .addHelpText("after", example("loopledger doctor --json"))
    .action(bind(async (context) => {
      const checks = await findAll(context);
      const ok = checks.every((check) => check.ok);
      if (context.json) context.print.json({ ok, checks });
      else {
        for (const { name, ok: isFine, detail, fix } of checks) {
          context.print.line(`${context.print.paint(isFine ? "green" : "red", isFine ? "✓" : "✗")} ${name.padEnd(12)} ${detail}`);
          if (fix !== null) context.print.line(`  ${"".padEnd(12)} ${context.print.paint("yellow", fix)}`);
        }
      }
      return ok ? exitCodes.done : exitCodes.failed;
    }));
};
