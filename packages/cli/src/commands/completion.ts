/** `completion`: shell completion of commands and their options. */
import { Command } from "commander";
import { type CommandEntry, type Register, example } from "../command.ts";
import { UsageError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";

export const register: Register = (program, bind, commands) => {
  program.command("completion <shell>")
    .description("Prints the completion for bash, zsh or fish.")
    .addHelpText("after", example("source <(loopledger completion bash)", "loopledger completion fish > ~/.config/fish/completions/loopledger.fish"))
    .action(bind(async (context, [shell = ""]) => {
      const writer = writers[shell];
      if (!writer) throw new UsageError(`There is no completion for ${shell}.`, { next: "bash, zsh and fish are known." });
      context.print.line(writer(await wordsOfCommands(program, commands)));
      return exitCodes.done;
    }));
};

interface Words { readonly name: string; readonly summary: string; readonly options: readonly string[]; readonly inner: readonly string[] }

/** Registers every command once, to learn its options. */
async function wordsOfCommands(program: Command, commands: readonly CommandEntry[]): Promise<Words[]> {
  const all = new Command();
  const given = program.options.flatMap((option) => option.long ?? []);
  for (const entry of commands) (await entry.load()).register(all, () => () => Promise.resolve(), commands);
  return commands.map(({ name, summary }) => {
    const command = all.commands.find((one) => one.name() === name);
    const options = [...(command?.options ?? []), ...(command?.commands ?? []).flatMap((one) => one.options)].flatMap((option) => option.long ?? []);
    return { name, summary, options: [...new Set([...options, ...given, "--help"])], inner: (command?.commands ?? []).map((one) => one.name()) };
  });
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const writers: Readonly<Record<string, (commands: readonly Words[]) => string>> = {
  bash: (commands) => `_loopledger() {
  local word=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]} words
  if [ "$COMP_CWORD" = 1 ]; then words=${quote(commands.map((one) => one.name).join(" "))}
  else case $command in
${commands.map((one) => `    ${one.name}) words=${quote([...one.inner, ...one.options].join(" "))} ;;`).join("\n")}
  esac; fi
  COMPREPLY=( $(compgen -W "$words" -- "$word") )
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=( $(compgen -f -- "$word") )
}
complete -F _loopledger loopledger`,
  zsh: (commands) => `#compdef loopledger
_loopledger() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map((one) => `      ${quote(`${one.name}:${one.summary.replaceAll(":", " ")}`)}`).join("\n")}
    )
    _describe command commands
  else
    case $words[2] in
${commands.map((one) => `      ${one.name}) compadd -- ${[...one.inner, ...one.options].join(" ")} ;;`).join("\n")}
    esac
    _files
  fi
}
compdef _loopledger loopledger`,
  fish: (commands) => commands.flatMap((one) => [
    `complete -c loopledger -n __fish_use_subcommand -f -a ${one.name} -d ${quote(one.summary)}`,
    ...one.inner.map((inner) => `complete -c loopledger -n '__fish_seen_subcommand_from ${one.name}' -f -a ${inner}`),
    ...one.options.map((option) => `complete -c loopledger -n '__fish_seen_subcommand_from ${one.name}' -l ${option.slice(2)}`),
  ]).join("\n"),
};
