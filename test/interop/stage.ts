/** A deployment as an operator starts it, and the guide's programs beside it. */
import { join } from "node:path";
import type { Variables } from "../cli/workshop.ts";
import { patienceMs, Workshop } from "../cli/workshop.ts";
import { removeKeys } from "../contract/redis-outside.ts";
import { kafkaBrokers, redisUrl, registryUrl, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { programs } from "./guide.ts";
import { type Ended, java, python, runProgram } from "./languages.ts";

export interface Stage {
  readonly prefix: string;
  readonly shop: Workshop;
  /** What the guide's programs are told. */
  readonly variables: Readonly<Record<string, string>>;
  /** Runs a program of the guide by its file. */
  guide(file: string, ...words: string[]): Promise<Ended>;
  command(...words: string[]): Promise<{ readonly code: number | string; readonly out: string; readonly err: string }>;
  close(): Promise<void>;
}

/** Session by session, a maker that adds a line and a check that wants two of them. */
function writeProject(shop: Workshop): void {
  const session = 'id=$(sed -n \'s/.*"sessionId":"\\([^"]*\\)".*/\\1/p\')';
  shop.write("agent.sh", `#!/bin/sh\n${session}\necho built >> "work-$id"\n`);
  shop.write("tests.sh", `#!/bin/sh\n${session}\ntouch "work-$id"\n[ "$(grep -c built "work-$id")" -ge 2 ]\n`);
  shop.write("loopledger.config.json", JSON.stringify({ makers: { agent: { exec: ["./agent.sh"] } }, checks: { tests: { exec: ["./tests.sh"] } } }));
}

export async function openStage({ registry }: { readonly registry: boolean }): Promise<Stage> {
  const shop = new Workshop();
  writeProject(shop);
  const prefix = uniquePrefix("interop");
  const environment: Variables = {
    LOOPLEDGER_KAFKA_BROKERS: await kafkaBrokers(), LOOPLEDGER_REDIS_URL: await redisUrl(), LOOPLEDGER_TOPIC_PREFIX: prefix,
    ...(registry && { LOOPLEDGER_REGISTRY_URL: await registryUrl() }),
  };
  const command: Stage["command"] = (...words) => shop.start(words, environment).ended;
  const applied = await command("topics", "apply", "--partitions", "3");
  if (applied.code !== 0) throw new Error(applied.err);
  const served = shop.start(["serve", "--roles", "scheduler,worker,checker,projector,gateway,intake", "--port", "0", "--json"], environment);
  const port = await until(() => /"port": (\d+)/.exec(served.out())?.[1] ?? (served.process.exitCode !== null && "over"), { what: "the deployment to take work", timeoutMs: patienceMs });
  if (port === "over") throw new Error(served.err());
  const variables = Object.fromEntries(Object.entries({ ...environment, LOOPLEDGER_URL: `http://127.0.0.1:${port}` }).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])));
  for (const [file, text] of programs()) shop.write(join("guide", file), text);
  const cwd = join(shop.folder, "guide");
  return {
    prefix, shop, variables, command,
    guide: async (file, ...words) => runProgram(file.endsWith(".java") ? await java() : await python(), [file, ...words], { cwd, variables }),
    close: async () => {
      await shop.close();
      await removeTopics(prefix);
      await removeKeys(environment["LOOPLEDGER_REDIS_URL"] ?? "", `${prefix}:*`);
    },
  };
}
