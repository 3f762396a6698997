/** What other systems read of a fleet: the last record of each session on the status topic, beside what its view says. */
import { isDeepStrictEqual } from "node:util";
import { statusTopic } from "@loopledger/shared/kafka";
import { createSystemClock } from "@loopledger/shared/system";
import { TopicLog } from "../../packages/shared/src/adapters/kafka/topic-log.ts";
import { until } from "../support/until.ts";
import { type Fleet, patienceMs } from "./fleet.ts";

async function lastStatuses({ grounds: { variables } }: Fleet): Promise<ReadonlyMap<string, string>> {
  const connection = { brokers: (variables["LOOPLEDGER_KAFKA_BROKERS"] ?? "").split(",") };
  const log = await TopicLog.open({ connection, topic: statusTopic(variables["LOOPLEDGER_TOPIC_PREFIX"] ?? ""), clock: createSystemClock() });
  try {
    const last = new Map<string, string>();
    await log.walk(({ key, value }) => void last.set(String(key), String(value)));
    return last;
  } finally {
    log.close();
  }
}

/** Sessions of which the topic says something else than their view, with what it says. A status that a paused projector put last is written over within seconds. */
export async function otherOnTopic(fleet: Fleet): Promise<readonly string[]> {
  let others: string[] = [];
  await until(async () => {
    const last = await lastStatuses(fleet);
    const compared = await Promise.all([...fleet.submitted.keys()].map(async (id) => {
      const text = last.get(id);
      return text !== undefined && isDeepStrictEqual(JSON.parse(text), JSON.parse(JSON.stringify(await fleet.view(id)))) ? [] : [`${id}: ${text ?? "no record"}`];
    }));
    others = compared.flat();
    return others.length === 0;
  }, { what: "the status topic to say what the views say", timeoutMs: patienceMs }).catch(() => undefined);
  return others;
}
