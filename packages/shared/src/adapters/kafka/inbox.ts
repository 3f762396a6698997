/** The goals topic: members of one consumer group share its partitions, and whoever puts a record back writes to it as any producer does. */
import type { Clock, Ids, Inbox, InboxHandler, InboxReader, RawContent } from "../../ports/index.ts";
import type { KafkaConnection } from "./connection.ts";
import { watchHeldUp } from "./held-up.ts";
import { Lazily } from "./topic-log.ts";
import { openTopicReader } from "./topic-reader.ts";
import { openTopicWriter } from "./topic-writer.ts";

export interface KafkaInboxOptions {
  readonly connection: KafkaConnection;
  /** The topic is `<prefix>.goals`, the group `<prefix>.intake`. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Told when an outage begins. */
  readonly log?: ((error: unknown) => void) | undefined;
}

/** Nothing is connected before the first call that needs it. */
export function openKafkaInbox({ connection, prefix, clock, ids, log }: KafkaInboxOptions): Inbox {
  const topic = `${prefix}.goals`;
  const writer = new Lazily(() => openTopicWriter({ connection, topic, clock, ids, log }), (opened) => opened.close());
  const readers = new Set<InboxReader>();
  return {
    topic,
    read: async (handler) => {
      const group = await readGroup({ connection, topic, group: `${prefix}.intake` }, handler);
      const unwatch = watchHeldUp({ connection, topic, clock, tell: handler.troubled });
      const reader = {
        close: async () => {
          readers.delete(reader);
          unwatch();
          await group.close();
        },
      };
      readers.add(reader);
      return reader;
    },
    put: async ({ key, value, headers, repeats }: RawContent) => (await writer.get()).write([{ key, value, headers, repeats }]),
    close: async () => {
      await Promise.all([writer.close(), ...[...readers].map((reader) => reader.close())]);
    },
  };
}

function readGroup(place: { readonly connection: KafkaConnection; readonly topic: string; readonly group: string }, { handle, gap, troubled }: InboxHandler): Promise<InboxReader> {
  return openTopicReader({
    ...place, log: troubled,
    handle: (records) => handle(records.map(({ topic, partition, offset, ...content }) => ({ source: { topic, partition, offset }, key: content.key, value: content.value, headers: content.headers, ...(content.repeats && { repeats: content.repeats }) }))),
    gap: ({ topic, partition, from, to }) => gap({ from: { topic, partition, offset: from }, to }),
  });
}
