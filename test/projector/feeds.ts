/** A ledger in memory with views and a feed, for as many processes as join. */
import { createMemoryStatusFeed, type MemoryStatusFeed } from "@loopledger/shared/memory";
import type { ReadModel, StatusFeed } from "@loopledger/shared/ports";
import type { Engine } from "@loopledger/shared/runtime";
import { type EngineOptions, memoryPlace } from "../support/walks.ts";
import { opened } from "./views.ts";

export interface FedPlace {
  readonly feed: MemoryStatusFeed;
  readonly ledgerId: string;
  readonly views: ReadModel;
  join(options?: EngineOptions & { readonly feed?: (own: StatusFeed) => StatusFeed }): Promise<Engine>;
  /** A process without a feed, as a release had it that knew none. */
  joinWithout(): Promise<Engine>;
}
export function fedPlace(): FedPlace {
  const place = opened(memoryPlace());
  const feed = createMemoryStatusFeed({ partitions: 4 });
  return {
    feed, ledgerId: place.ledgerId, views: place.views(), joinWithout: () => place.join(),
    join: async ({ feed: change = (own: StatusFeed) => own, ...options } = {}) => ({ ...(await place.join(options)), feed: change(feed.handle(place.ledgerId)) }),
  };
}
