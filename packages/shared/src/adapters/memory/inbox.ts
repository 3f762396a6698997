/**
 * A topic in memory with one group of readers.
 *
 * I1. A partition is handed on by one reader at a time; who reads which is decided anew when one comes or goes.
 * I2. A position moves once a handler is done, and only for the reader that has the partition then.
 */
import { partitionOf } from "../../core/placement.ts";
import type { Clock, Inbox, InboxHandler, InboxRecord, RawContent } from "../../ports/index.ts";

export interface MemoryInboxOptions {
  readonly clock: Pick<Clock, "after">;
  readonly topic?: string;
  readonly partitions?: number;
}
export interface MemoryInbox extends Inbox {
  /** Next record that the group has not taken, of each partition. */
  committed(): readonly number[];
}

interface Member { readonly handler: InboxHandler; readonly busy: Set<number>; isGone: boolean }
const againMs = 50;

export function createMemoryInbox({ clock, topic = "goals", partitions = 1 }: MemoryInboxOptions): MemoryInbox {
  const logs: InboxRecord[][] = Array.from({ length: partitions }, () => []);
  const next = logs.map(() => 0);
  const members: Member[] = [];
  const ownerOf = (partition: number): Member | undefined => members[partition % Math.max(1, members.length)];
  const hand = async (partition: number): Promise<void> => {
    const member = ownerOf(partition);
    const records = logs[partition]?.slice(next[partition]) ?? [];
    if (!member || member.busy.has(partition) || records.length === 0) return;
    member.busy.add(partition);
    const isDone = await member.handler.handle(records).then(() => true, () => false);
    member.busy.delete(partition);
    if (isDone && !member.isGone && ownerOf(partition) === member) next[partition] = (records.at(-1)?.source.offset ?? 0) + 1;
    if (isDone) return hand(partition);
    clock.after(againMs, () => void hand(partition));
  };
  const handAll = (): void => logs.forEach((_, partition) => void hand(partition));
  let spread = 0;
  const placeOf = (key: Uint8Array | null): number => (key === null ? spread++ % partitions : partitionOf(new TextDecoder().decode(key), partitions));
  return {
    topic,
    read: async (handler) => {
      const member: Member = { handler, busy: new Set(), isGone: false };
      members.push(member);
      handAll();
      return {
        close: async () => {
          if (member.isGone) return;
          member.isGone = true;
          members.splice(members.indexOf(member), 1);
          handAll();
        },
      };
    },
    put: async (content: RawContent) => {
      const partition = placeOf(content.key);
      const log = logs[partition] ?? [];
      log.push({ ...copyOf(content), source: { topic, partition, offset: log.length } });
      void hand(partition);
    },
    committed: () => [...next],
    close: async () => undefined,
  };
}

function copyOf({ key, value, headers, repeats }: RawContent): RawContent {
  return { key: key && new Uint8Array(key), value: value && new Uint8Array(value), headers: { ...headers }, ...(repeats && { repeats: { ...repeats } }) };
}
