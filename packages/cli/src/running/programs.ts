/** Whether a command's program can be found where the command will be run. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

export interface Place {
  /** The folder that the command runs in. */
  readonly folder: string;
  /** PATH, as the command will have it. */
  readonly path: string;
}

/** The program that is nowhere to be found, as it was typed; null where it is there, or where only a shell could tell. */
export function missingProgram(command: object, { folder, path }: Place): string | null {
  const { exec, shell } = command as { readonly exec?: string | readonly string[]; readonly shell?: boolean };
  const [program] = typeof exec === "string" ? [exec] : (exec ?? []);
  if (shell || program === undefined) return null;
  const places = program.includes("/") ? [folder] : path.split(delimiter).map((one) => one || ".");
  return places.some((place) => isProgram(resolve(folder, place, program))) ? null : program;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
