import { spawn } from "node:child_process";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "..");

/** One static check of the whole checkout: a command that is silent or short when all is well. */
export interface Gate {
  readonly name: string;
  /** Program and arguments; a program without a slash is one of node_modules/.bin. */
  readonly command: readonly [string, ...string[]];
  /** What to do when it is red. */
  readonly fix: string;
}

const gates = [
  {
    name: "types",
    command: ["tsc", "-p", "tsconfig.json"],
    fix: "Each line above names a file and what the compiler cannot accept there.",
  },
  {
    name: "purity",
    command: ["tsc", "-p", "packages/shared/tsconfig.core.json"],
    fix: "The core and the ports compile with no Node, no timers and no clock: take what you need as an argument.",
  },
  {
    name: "lint",
    command: ["biome", "lint", "--diagnostic-level=error"],
    fix: "`node scripts/run.mjs --pnpm exec biome lint --write` repairs what can be repaired safely.",
  },
  {
    name: "deps",
    command: ["depcruise", "packages", "services", "infra", "test", "scripts", "--config", ".dependency-cruiser.mjs"],
    fix: "A file knows something that its floor may not know; .dependency-cruiser.mjs says which floor may know what.",
  },
  {
    name: "boundaries",
    command: ["turbo", "boundaries", "--no-color"],
    fix: "Name the imported package in the importing package's own package.json.",
  },
  {
    name: "tidy",
    command: [process.execPath, "test/house/tidy.ts"],
    fix: "Each line above names the file, the rule and the repair.",
  },
  {
    name: "control",
    command: [process.execPath, "test/house/negative-control.ts"],
    fix: "A rule no longer catches the violation it was made for: repair the rule, not the control.",
  },
] as const satisfies readonly Gate[];

export const gateNames: readonly string[] = gates.map((gate) => gate.name);

export interface Finished {
  readonly code: number;
  readonly output: string;
  readonly seconds: number;
}

/** Runs a command at the root of the checkout and keeps what it says. */
function capture([program, ...args]: readonly [string, ...string[]]): Promise<Finished> {
  const startedAt = performance.now();
  const file = program.includes("/") ? program : join(root, "node_modules", ".bin", program);
  return new Promise((done, fail) => {
    const child = spawn(file, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", fail);
    child.on("close", (code) =>
      done({ code: code ?? 1, output, seconds: (performance.now() - startedAt) / 1000 }),
    );
  });
}

async function runGate(gate: Gate): Promise<boolean> {
  const { code, output, seconds } = await capture(gate.command);
  const green = code === 0;
  process.stdout.write(`${green ? "ok  " : "RED "} ${gate.name.padEnd(10)} ${seconds.toFixed(1).padStart(5)} s\n`);
  if (!green) process.stdout.write(`${output.trimEnd()}\n     ${gate.fix}\n`);
  else if (gate.name === "control") process.stdout.write(output);
  return green;
}

/**
 * Runs the named gates in their order, two at a time; the negative control comes last and alone.
 * @returns the names of the red ones
 */
export async function runGates(names: readonly string[]): Promise<string[]> {
  const wanted = gates.filter((gate) => names.includes(gate.name));
  const queue = wanted.filter((gate) => gate.name !== "control");
  const red: string[] = [];
  const lane = async (): Promise<void> => {
    for (let gate = queue.shift(); gate !== undefined; gate = queue.shift()) {
      if (!(await runGate(gate))) red.push(gate.name);
    }
  };
  await Promise.all([lane(), lane()]);
  const control = wanted.find((gate) => gate.name === "control");
  if (control !== undefined && !(await runGate(control))) red.push(control.name);
  return red;
}
