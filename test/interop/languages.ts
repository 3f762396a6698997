/** Java and Python with their Kafka clients: the jars of the launcher's own Kafka, and librdkafka from PyPI, both in the user's cache. */
import { messageOf } from "@loopledger/shared/core/errors";
import { execFile, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { cached } from "@loopledger/infra/cache";
import { prepareKafka } from "@loopledger/infra/kafka";

const run = promisify(execFile);
const tell = (text: string): void => void process.stderr.write(`tests: ${text}\n`);

export interface Program {
  readonly command: string;
  /** What stands before the program's file. */
  readonly args: readonly string[];
}
export interface Ended {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

/** A JDK, since it compiles the one file that it is given; with Kafka's jars on the class path. */
export async function java(): Promise<Program> {
  const { java: found, classpath } = await prepareKafka({ folder: "", nodes: [], variables: process.env, tell });
  const compiler = await run("sh", ["-c", "readlink -f \"$(command -v javac)\""]).then(({ stdout }) => stdout.trim(), () => "");
  const command = compiler === "" ? found.path : join(dirname(compiler), "java");
  const modules = await run(command, ["--list-modules"]);
  if (!modules.stdout.includes("jdk.compiler@")) {
    throw new Error("These tests run Java from its source, and the Java here has no compiler. Install a JDK of 17 or newer (Debian: apt-get install default-jdk-headless).");
  }
  return { command, args: ["-cp", classpath, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] };
}

/** What the guide's Python programs need, at the version that they were written with. */
const wheels = ["confluent-kafka==2.11.1"];

export async function python(): Promise<Program> {
  const folder = await cached(`python-${wheels.join("-").replaceAll("==", "-")}`, process.env, async (venv) => {
    tell(`fetching ${wheels.join(", ")} from PyPI (once per user)`);
    try {
      await run("python3", ["-m", "venv", venv]);
      await run(join(venv, "bin/python"), ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", ...wheels]);
    } catch (error) {
      const why = messageOf(error);
      throw new Error(`These tests need Python with ${wheels.join(", ")} in an environment of its own. Install python3 with venv and pip (Debian: apt-get install python3-venv), and see that PyPI can be reached. ${why}`, { cause: error });
    }
  });
  return { command: join(folder, "bin/python"), args: [] };
}

/** Runs a program's file in a folder. */
export function runProgram({ command, args }: Program, words: readonly string[], { cwd, variables }: { readonly cwd: string; readonly variables: Readonly<Record<string, string>> }): Promise<Ended> {
  const child = spawn(command, [...args, ...words], { cwd, env: { PATH: process.env["PATH"], HOME: process.env["HOME"], PYTHONUNBUFFERED: "1", ...variables }, stdio: ["ignore", "pipe", "pipe"], timeout: 300_000, killSignal: "SIGKILL" });
  const ended = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => { ended.out += text; });
  child.stderr.setEncoding("utf8").on("data", (text: string) => { ended.err += text; });
  return new Promise((done, failed) => {
    child.once("error", failed);
    child.once("close", (code, signal) => done({ code: code ?? signal ?? "", ...ended }));
  });
}
