/** Landmarks in memory, for all who hold a handle, and with the ways in which a cache fails: silent, and forgetful. */
import type { Landmarks } from "../../ports/index.ts";

export interface MemoryLandmarks {
  /** One that is not reached gives nothing and keeps nothing. */
  handle(options?: { readonly isReached?: boolean }): Landmarks;
  /** Forgets everything, as a flushed service would. */
  forget(): void;
}

export function createMemoryLandmarks(): MemoryLandmarks {
  const texts = new Map<number, string>();
  return {
    handle: ({ isReached = true } = {}) => {
      let answers = isReached;
      return {
        load: async (partition) => (answers ? (texts.get(partition) ?? null) : null),
        save: async (partition, text) => {
          if (answers) texts.set(partition, text);
        },
        close: async () => {
          answers = false;
        },
      };
    },
    forget: () => texts.clear(),
  };
}
