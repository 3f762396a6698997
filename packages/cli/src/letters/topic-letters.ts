/** The dead letters of a deployment's own topics; neither its ledger nor its Redis is needed for them. */
import { openIntakePorts } from "@loopledger/composition/ports/distributed";
import type { Distributed } from "@loopledger/composition/settings/distributed";
import { replayDeadLetter, shownLetter } from "@loopledger/shared/runtime";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import type { CommandContext } from "../context.ts";
import { CliError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { spokenLog } from "../story/spoken-log.ts";
import { type Letters, unknownLetter } from "./letters.ts";

export async function topicLetters(distributed: Distributed, { print }: CommandContext): Promise<Letters> {
  const clock = createSystemClock();
  const { inbox, deadLetters } = await openIntakePorts(distributed, { clock, ids: createSystemIds(), log: spokenLog(print.note) });
  return {
    hasTopic: true,
    page: (query) => deadLetters.list(query),
    get: async (id) => {
      const letter = await deadLetters.get(id);
      if (letter === null) throw unknownLetter(id);
      return shownLetter(letter);
    },
    replay: async (id, { value, key }) => {
      const replayed = await replayDeadLetter({ inbox, deadLetters, clock }, id, { value, key: typeof key === "string" ? Buffer.from(key) : key });
      switch (replayed.kind) {
        case "unknown": throw unknownLetter(id);
        case "cut": throw new CliError("dead_letter_cut", `Of ${id} only the beginning was kept, because the whole was too large.`, {
          next: `Put a mended goal back with --file; the original lies at offset ${replayed.source.offset} of ${replayed.source.topic}, partition ${replayed.source.partition}.`, exitCode: exitCodes.failed,
        });
        case "replayed": return replayed;
      }
    },
    close: async () => {
      await Promise.all([inbox.close(), deadLetters.close()]);
    },
  };
}
