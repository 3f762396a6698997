/** `projections`: read models are disposable. A fresh one is folded from the ledger, compared, and taken into use. */
import type { ReadModel } from "@loopledger/shared/ports";
import type { Engine } from "@loopledger/shared/runtime";
import { refuseNoFolder } from "@loopledger/composition/ports/data-folder";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../story/telling.ts";

export const register: Register = (program, bind) => {
  const projections = program.command("projections").description("read models of the ledger")
    .addHelpText("after", example("loopledger projections create fresh", "loopledger projections compare fresh --json", "loopledger projections use fresh"));
  projections.command("ls").description("those that there are; the one in use is marked").addHelpText("after", example("loopledger projections ls --json")).action(bind((context) => withViews(context, list)));
  projections.command("create <name>").description("folds the ledger into a fresh one").addHelpText("after", example("loopledger projections create fresh")).action(bind((context, [name = ""]) => withViews(context, create(name))));
  projections.command("compare [name]").description("does it equal a fresh fold of the ledger, byte for byte? leaves with 1 where not (default: the one in use)")
    .addHelpText("after", example("loopledger projections compare fresh --json"))
    .action(bind((context, [name]) => withViews(context, compare(name))));
  projections.command("use <name>").description("from now on this one is read and written").addHelpText("after", example("loopledger projections use fresh")).action(bind((context, [name = ""]) => withViews(context, use(name))));
  projections.command("drop <name>").description("removes one; it can be made anew at any time").addHelpText("after", example("loopledger projections drop old")).action(bind((context, [name = ""]) => withViews(context, drop(name))));
};

interface Opened { readonly context: CommandContext; readonly engine: Engine; readonly views: ReadModel }
type Work = (opened: Opened) => Promise<ExitCode>;

async function withViews(context: CommandContext, work: Work): Promise<ExitCode> {
  if (context.remote) return (await import("../remote/remote-projections.ts")).refuseRemoteProjections();
  if (context.environment.kafkaBrokers === null) refuseNoFolder(context.dataFolder);
  const { engine, views, close } = await context.openEngine({ reads: true, still: true, views: true });
  try {
    if (!views) throw new TypeError("There is no store of views.");
    return await work({ context, engine, views });
  } finally {
    await close();
  }
}

const list: Work = async ({ context: { json, print }, views }) => {
  const active = await views.active();
  for (const name of await views.projections()) {
    const cursors = Object.fromEntries(await views.cursors(name));
    if (json) print.row({ name, active: name === active, cursors, cursor: name });
    else print.line(`${name === active ? "*" : " "} ${name}  ${print.paint("dim", Object.entries(cursors).map(([partition, next]) => `${partition}:${next}`).join(" "))}`);
  }
  return exitCodes.done;
};

/** The name of a projection stands in keys and files: letters, digits and a few marks. */
const namePattern = /^[A-Za-z0-9._-]{1,64}$/;

const create = (name: string): Work => async ({ context, engine, views }) => {
  if (!namePattern.test(name)) throw new UsageError(`"${name}" is no name of a projection: 1 to 64 letters, digits and . _ -`);
  if ((await views.projections()).includes(name)) {
    throw new UsageError(`There is a projection ${name} already.`, { code: "projection_exists", next: `Take another name, or \`loopledger projections drop ${name}\` first.` });
  }
  const { rebuild } = await import("@loopledger/projector/comparison");
  await rebuild(engine, name);
  tell(context, { name, created: true }, `${name} is folded from the ledger; \`loopledger projections compare ${name}\` checks it, \`use\` takes it.`);
  return exitCodes.done;
};

const compare = (named: string | undefined): Work => async ({ context, engine, views }) => {
  const name = named ?? (await views.active());
  await mustExist(views, name);
  const { compare: compareWithLedger } = await import("@loopledger/projector/comparison");
  const { equal, sessions, differing } = await compareWithLedger(engine, name);
  tell(context, { equal, sessions, differing }, equal ? `${name} equals the ledger: ${counted(sessions, "session")}.` : `${name} differs in ${differing.length} of ${counted(sessions, "session")}: ${differing.join(", ")}`);
  return equal ? exitCodes.done : exitCodes.failed;
};

const use = (name: string): Work => async ({ context, views }) => {
  await mustExist(views, name);
  await views.use(name);
  tell(context, { name, active: true }, `${name} is in use from now on.`);
  return exitCodes.done;
};

const drop = (name: string): Work => async ({ context, views }) => {
  await mustExist(views, name);
  if ((await views.active()) === name) {
    throw new UsageError(`${name} is the projection in use.`, { code: "projection_in_use", next: "Create another one and use it first." });
  }
  await views.drop(name);
  tell(context, { name, dropped: true }, `${name} is gone.`);
  return exitCodes.done;
};

async function mustExist(views: ReadModel, name: string): Promise<void> {
  const names = await views.projections();
  if (names.includes(name)) return;
  throw new UsageError(`There is no projection ${name}. ${names.length === 0 ? "There is none at all: no projector has run." : `There are ${names.join(", ")}.`}`, {
    code: "unknown_projection", next: `\`loopledger projections create ${namePattern.test(name) ? name : "NAME"}\` makes one.`,
  });
}

function tell({ json, print, hint }: CommandContext, document: object, sentence: string): void {
  if (json) print.json(document);
  else print.line(hint(sentence));
}
