/** A door before the registry that a test can leave open, shut, or open on somebody who never answers. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export interface Door {
  readonly url: string;
  /** Requests that came to the door so far. */
  readonly count: () => number;
  silent(isSilent: boolean): void;
  shut(): Promise<void>;
  close(): Promise<void>;
}

export async function openDoor(registryUrl: string): Promise<Door> {
  const target = new URL(registryUrl);
  const sockets = new Set<Socket>();
  let isSilent = false;
  let connections = 0;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  };
  const server: Server = createServer((inside) => {
    connections++;
    keep(inside);
    if (isSilent) return void inside.resume();
    const outside = connect(Number(target.port === "" ? 80 : target.port), target.hostname);
    keep(outside);
    inside.pipe(outside).pipe(inside);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(registryUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  const shut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: url.href, count: () => connections, shut, close: shut,
    silent: (value) => {
      isSilent = value;
      for (const socket of sockets) socket.destroy();
    },
  };
}
