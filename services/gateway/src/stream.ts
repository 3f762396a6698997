/**
 * One client of an event stream: what is on the ledger already, then what comes.
 *
 * X1. Every frame's id is a cursor: what follows it is exactly what has not been sent. Keep-alives are comments and move nothing.
 * X2. No more is held for a client than one piece of text; while its socket is full nothing is written.
 * X3. A client that does not read is dropped when the feed's window leaves it behind, or when it has taken nothing for a
 *     while. It goes on from its last id.
 * X4. Where reading throws, it is read again after a pause from the first event that was not sent; only after several failures
 *     in a row the client is dropped, and comes back with its last id.
 */
import type { ServerResponse } from "node:http";
import type { Part } from "@loopledger/shared/runtime";
import type { Feed, Row } from "./feed.ts";

/** Turns rows into frames for one client, and knows which it has had. */
export interface Reading {
  /** Rows that are on the ledger already, up to the feed's window or beyond. */
  history(): AsyncIterable<Row>;
  /** The frame's id, or null where the row is not this client's, or was sent before. Called in order, once a row. */
  next(row: Row): string | null;
  /** The reading has reached the feed's window: nothing is left between them. */
  joins(feed: Feed): boolean;
}
export interface StreamSettings {
  readonly feed: Feed;
  /** Under which name a stream fails, and what tells this one from the others. */
  readonly part: Part;
  readonly key: string;
  /** Fills in what a row from the feed does not know of its cause. */
  readonly tellCause: (row: Row) => Promise<void>;
  /** How long a client may take nothing while there is something for it, in ms. */
  readonly stallMs: number;
  /** Told when the client is dropped. */
  readonly dropped: () => void;
}

/** Text that is put together before it is written, in UTF-16 units. */
const pieceMax = 65_536;
/** Failures in a row after which the client is dropped. */
const faultsMax = 8;

export class Stream {
  readonly #response: ServerResponse;
  readonly #settings: StreamSettings;
  readonly #closed = Promise.withResolvers<void>();
  /** The next row of the window; while history is read the window may move as it likes. */
  #index = Number.POSITIVE_INFINITY;
  #blocked = false;
  #over = false;
  #faults = 0;

  constructor(response: ServerResponse, settings: StreamSettings) {
    this.#response = response;
    this.#settings = settings;
    response.on("close", () => this.#end());
    response.on("error", () => this.#end());
  }
  #end(): void {
    this.#over = true;
    this.#closed.resolve();
  }
  get isOver(): boolean {
    return this.#over;
  }

  /** Sends until the client leaves, is dropped or is closed. */
  async run(reading: Reading): Promise<void> {
    const { feed } = this.#settings;
    this.#response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no", connection: "keep-alive",
    });
    const stopWatching = feed.onArrival(() => {
      if (this.#blocked && this.#index < feed.first) this.drop();
    });
    try {
      await this.#write("retry: 1000\n\n");
      while (!this.#over) await this.#readOn(reading);
    } finally {
      stopWatching();
      this.#settings.part.works(this.#settings.key);
    }
  }
  /** Reads until the stream is over. Throws where it has failed too often. */
  async #readOn(reading: Reading): Promise<void> {
    const { feed, part, key } = this.#settings;
    try {
      do {
        for await (const row of reading.history()) {
          if (this.#over) return;
          await this.#sendAll([row], reading);
        }
      } while (!this.#over && !reading.joins(feed));
      this.#index = feed.first;
      part.works(key);
      await this.#follow(reading);
    } catch (error) {
      this.#index = Number.POSITIVE_INFINITY;
      const pauseMs = part.failed(error, key);
      if (++this.#faults >= faultsMax) throw error;
      await this.#pause(pauseMs);
    }
  }
  #pause(pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#settings.part.after(pauseMs, resolve, `${this.#settings.key} pause`);
      void this.#closed.promise.then(() => {
        cancel();
        resolve();
      });
    });
  }

  async #follow(reading: Reading): Promise<void> {
    const { feed } = this.#settings;
    while (!this.#over) {
      if (this.#index < feed.first) return this.drop();
      const arrival = feed.arrival();
      const rows = this.#piece();
      if (rows.length > 0) await this.#sendAll(rows, reading);
      else await Promise.race([arrival, this.#closed.promise]);
    }
  }
  #piece(): Row[] {
    const { feed } = this.#settings;
    const rows: Row[] = [];
    for (let row = feed.at(this.#index); row && rows.length < 200; row = feed.at(this.#index)) {
      rows.push(row);
      this.#index++;
    }
    return rows;
  }

  async #sendAll(rows: readonly Row[], reading: Reading): Promise<void> {
    let text = "";
    try {
      for (const row of rows) {
        if (row.lacksCause) await this.#settings.tellCause(row);
        const { data } = row;
        const id = reading.next(row);
        if (id === null) continue;
        text += `id: ${id}\ndata: ${data}\n\n`;
        if (text.length < pieceMax) continue;
        const piece = text;
        text = "";
        await this.#write(piece);
      }
    } finally {
      // What the reading counts as sent is sent, whatever came after it.
      if (text !== "") await this.#write(text);
    }
    if (rows.length > 0) this.#faults = 0;
  }

  /** Resolves when the socket takes more, or never will. */
  async #write(text: string): Promise<void> {
    if (this.#over || this.#response.write(text)) return;
    this.#blocked = true;
    const { part, key, stallMs } = this.#settings;
    const cancel = part.after(stallMs, () => this.drop(), `${key} stall`);
    const drained = new Promise<void>((resolve) => this.#response.once("drain", resolve));
    await Promise.race([drained, this.#closed.promise]);
    cancel();
    this.#blocked = false;
  }

  keepAlive(): void {
    if (!this.#over && !this.#blocked) this.#response.write(": keep-alive\n\n");
  }
  /** Ends in order: the client comes back with its last id. */
  close(): void {
    if (this.#over) return;
    if (this.#blocked) this.drop();
    else this.#response.end(": the server is stopping; go on from the last id\n\n");
    this.#end();
  }
  drop(): void {
    if (!this.#over) this.#settings.dropped();
    this.#response.destroy();
    this.#end();
  }
}
