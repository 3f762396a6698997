/** Dead letters in memory, shared by all who hold the object. */
import { isUtf8 } from "node:buffer";
import { pageOfLetters, positionName } from "../../core/topics/dead-letters.ts";
import type { DeadLetter, DeadLetters } from "../../ports/index.ts";

export function createMemoryDeadLetters(): DeadLetters {
  const letters = new Map<string, DeadLetter>();
  return {
    put: async (fresh) => {
      for (const { source, key, value, headers, repeats, ...notes } of fresh) {
        const id = positionName(source);
        const content = { key: copyOf(key), value: copyOf(value), headers: { ...headers }, ...(repeats && { repeats: { ...repeats } }) };
        if (!letters.has(id)) letters.set(id, { ...notes, ...content, id, source, keyText: textOf(key), bytes: value?.byteLength ?? null, replayedAt: null, isCut: false });
      }
    },
    list: async (query) => {
      const rows = [...letters.values()].map(({ id, reason, detail, at, source, keyText, bytes, replayedAt }) => ({ id, reason, detail, at, source, keyText, bytes, replayedAt }));
      return pageOfLetters(rows, query);
    },
    get: async (id) => letters.get(id) ?? null,
    markReplayed: async (id, at) => {
      const letter = letters.get(id);
      if (letter && at > (letter.replayedAt ?? "")) letters.set(id, { ...letter, replayedAt: at });
    },
    close: async () => undefined,
  };
}

function textOf(key: Uint8Array | null): string | null {
  return key === null || !isUtf8(key) ? null : Buffer.from(key).toString("utf8");
}
function copyOf(bytes: Uint8Array | null): Uint8Array | null {
  return bytes === null ? null : new Uint8Array(bytes);
}
