/** The dead letters that a command works on: those of the topic itself, of a gateway, or none, where goals come over no topic. */
import type { CommandContext } from "../context.ts";
import { type Letters, unknownLetter } from "./letters.ts";

export async function withLetters<T>(context: CommandContext, work: (letters: Letters) => Promise<T>): Promise<T> {
  const letters = await openLetters(context);
  try {
    return await work(letters);
  } finally {
    await letters.close();
  }
}

async function openLetters(context: CommandContext): Promise<Letters> {
  if (context.remote) return (await import("../remote/remote-letters.ts")).remoteLetters(context.remote);
  const { distributed } = await context.deployment();
  return distributed === null ? noLetters : (await import("./topic-letters.ts")).topicLetters(distributed, context);
}

/** A data folder has no goals topic. */
const noLetters: Letters = {
  hasTopic: false,
  page: async () => ({ items: [], next: null }),
  get: async (id) => {
    throw unknownLetter(id);
  },
  replay: async (id) => {
    throw unknownLetter(id);
  },
  close: async () => undefined,
};
