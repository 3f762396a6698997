/** A target whose answers can be held back: it knows what was asked of it under which key, and answers once it is let. */
import { once } from "node:events";
import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SlowTarget {
  readonly url: string;
  /** Idempotency keys in the order of the calls. */
  readonly keys: readonly string[];
  /** Answers from now on. */
  answer(): void;
  close(): Promise<void>;
}

export async function slowTarget(): Promise<SlowTarget> {
  const keys: string[] = [];
  const held: ServerResponse[] = [];
  let answers = false;
  const end = (response: ServerResponse): void => void response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
  const server = createServer((request, response) => {
    keys.push(String(request.headers["idempotency-key"]));
    request.resume();
    if (answers) end(response);
    else held.push(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/deploy`, keys,
    answer: () => {
      answers = true;
    },
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
