/** `topics`: the topics of the prefix as they must be. Services never make any. */
import { readDistributed } from "@loopledger/composition/settings/distributed";
import { startedHere } from "../checking/started-here.ts";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { whole } from "../running/numbers.ts";

interface Flags { readonly partitions?: string; readonly replication?: string; readonly flush?: boolean }

export const register: Register = (program, bind) => {
  const topics = program.command("topics").description("the topics of LOOPLEDGER_TOPIC_PREFIX").addHelpText("after", example("loopledger topics apply"));
  topics.command("apply").description("makes those that are missing, mends how they are set, registers their schemas; deletes nothing")
    .option("--partitions <n>", "of a ledger that is made now (default 12); fixed for good")
    .option("--replication <n>", "copies of each record of topics that are made now (default: 3, or as many as there are brokers)")
    .option("--flush", "every record of the ledger is flushed to disk before it is acknowledged")
    .addHelpText("after", example("loopledger topics apply", "loopledger topics apply --partitions 24 --replication 3 --json"))
    .action(bind<Flags>((context, _words, flags) => apply(context, flags)));
};

async function apply(context: CommandContext, { partitions, replication, flush }: Flags): Promise<ExitCode> {
  const { environment: { variables, kafkaBrokers }, print, json } = context;
  const here = await startedHere(context);
  if (here !== null) print.note(`LOOPLEDGER_KAFKA_BROKERS is not set: this is the Kafka that \`loopledger infra up\` started here, ${here.brokers}.`);
  else if (kafkaBrokers === null) throw new UsageError("topics apply works on Kafka, and LOOPLEDGER_KAFKA_BROKERS is not set.", { next: "Set it; `loopledger infra up` starts a Kafka, which this command then finds." });
  const choices = {
    ...(partitions !== undefined && { partitions: whole("--partitions", partitions, 1) }),
    ...(replication !== undefined && { replication: whole("--replication", replication, 1) }), ...(flush && { flush: true }),
  };
  const read = distributedOf(here?.variables ?? variables);
  const [{ applyTopics, refuseOtherBeginning }, { openKafkaAdmin }] = await Promise.all([import("@loopledger/infra/topics-apply"), import("@loopledger/shared/kafka-admin")]);
  const admin = await openKafkaAdmin({ ...read.connection, patience: "none" });
  try {
    await refuseOtherBeginning(admin, { ...read, tell: print.note });
    const topics = await applyTopics(admin, read.prefix, choices);
    const subjects = read.registryUrl === null ? [] : await (await import("@loopledger/infra/schemas")).publishSchemas({ url: read.registryUrl, tls: read.registryTls }, read.prefix);
    if (json) print.json({ prefix: read.prefix, topics, subjects });
    else {
      for (const { name, did, partitions: count, replication: copies, changed } of topics) {
        const what = Object.entries(changed).map(([key, { from, to }]) => `${key} ${from ?? "not set"} → ${to}`).join(", ");
        print.line(`${name}  ${did === "nothing" ? "as it must be" : did}  ${print.paint("dim", what || `${count} partitions, replication ${copies}`)}`);
      }
      for (const { subject, detail } of subjects) print.line(`${subject}  ${print.paint("dim", detail)}`);
    }
    return exitCodes.done;
  } finally {
    await admin.close();
  }
}

/** Topics need no Redis, so its address may be missing here, whether its certificates are named or not. */
export function distributedOf(variables: CommandContext["environment"]["variables"]) {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ""));
  const read = readDistributed({ LOOPLEDGER_REDIS_URL: "rediss://127.0.0.1:6379", ...given });
  if (read === null) throw new UsageError("LOOPLEDGER_KAFKA_BROKERS is not set.");
  const { brokers, sasl, tls, topicPrefix, registryUrl, registryTls, redisTls } = read;
  return { connection: { brokers, sasl, ssl: tls }, prefix: topicPrefix, registryUrl, registryTls, redisTls, redisUrl: given["LOOPLEDGER_REDIS_URL"] ?? null };
}
