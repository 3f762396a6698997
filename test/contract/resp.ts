/** Redis seen from outside, by its wire protocol alone: what the tests look at is not what the adapter says of itself. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export type Reply = string | number | null | readonly Reply[] | Error;
export interface Outside {
  /** Sends one command and gives its reply; an error reply rejects. */
  send(...words: readonly (string | number)[]): Promise<Reply>;
  close(): void;
}

export async function connectOutside(url: string): Promise<Outside> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port === "" ? 6379 : port), hostname);
  await once(socket, "connect");
  const waiting: { readonly done: (reply: Reply) => void; readonly failed: (error: Error) => void }[] = [];
  let rest = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let read = readReply(rest, 0); read !== null; read = readReply(rest, 0)) {
      rest = rest.subarray(read.end);
      const waiter = waiting.shift();
      if (read.reply instanceof Error) waiter?.failed(read.reply);
      else waiter?.done(read.reply);
    }
  });
  const fail = (error: Error): void => {
    for (const waiter of waiting.splice(0)) waiter.failed(error);
  };
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the connection was closed")));
  return {
    send: (...words) => new Promise((done, failed) => {
      waiting.push({ done, failed });
      socket.write(`*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`).join("")}`);
    }),
    close: () => socket.destroy(),
  };
}

/** The reply that begins at `at`, and where it ends; null where it is not all there yet. */
function readReply(bytes: Buffer, at: number): { readonly reply: Reply; readonly end: number } | null {
  const line = bytes.indexOf("\r\n", at);
  if (line < 0) return null;
  const text = bytes.toString("utf8", at + 1, line);
  const end = line + 2;
  switch (String.fromCharCode(bytes[at] as number)) {
    case "+": return { reply: text, end };
    case "-": return { reply: new Error(text), end };
    case ":": return { reply: Number(text), end };
    case "$": {
      if (text === "-1") return { reply: null, end };
      const last = end + Number(text);
      return bytes.length < last + 2 ? null : { reply: bytes.toString("utf8", end, last), end: last + 2 };
    }
    default: return readArray(bytes, { length: Number(text), at: end });
  }
}

function readArray(bytes: Buffer, { length, at }: { readonly length: number; readonly at: number }): ReturnType<typeof readReply> {
  if (length < 0) return { reply: null, end: at };
  const items: Reply[] = [];
  let end = at;
  for (let i = 0; i < length; i++) {
    const read = readReply(bytes, end);
    if (read === null) return null;
    items.push(read.reply);
    end = read.end;
  }
  return { reply: items, end };
}
