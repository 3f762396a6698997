/**
 * How every connection to a broker begins, the client's own as well as those of `link.ts`: plain, or with TLS where the settings say so.
 *
 * N1. With TLS nothing is sent before the broker has proved who it is, and there is no way to go without that, not by Node's own variables either.
 * N2. What a broker shows on the wire before its first answer is told by a code: that it speaks TLS, or that it only hung up.
 */
import net from "node:net";
import tls, { type ConnectionOptions } from "node:tls";
import { tlsCodes } from "../../core/tls-trouble.ts";

const KEEP_ALIVE_MS = 60_000;
/** A TLS alert begins so; as the size of an answer it would be 350 MB. */
const alert = [0x15, 0x03] as const;

export interface SocketPlan {
  readonly host: string;
  readonly port: number;
  readonly ssl?: ConnectionOptions | null | undefined;
  /** Called once it can be written to. */
  readonly onConnect: () => void;
}

export function openSocket({ host, port, ssl, onConnect }: SocketPlan): net.Socket {
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  const socket = ssl ? tls.connect({ host, port, ...servername, ...ssl, rejectUnauthorized: true }, onConnect) : net.connect({ host, port, noDelay: true }, onConnect);
  tellApart(socket, Boolean(ssl));
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
}

/** Stands before the client's own listeners, so that they are told what was found out. */
function tellApart(socket: net.Socket, isTls: boolean): void {
  let isAnswered = false;
  socket.once("data", (chunk: Buffer) => {
    isAnswered = true;
    if (!isTls && chunk[0] === alert[0] && chunk[1] === alert[1]) socket.destroy(coded("The broker answers with TLS.", tlsCodes.speaksTls));
  });
  socket.once("error", (error: NodeJS.ErrnoException) => {
    if (!isAnswered && hangingUp.has(error.code ?? "")) error.code = tlsCodes.hungUp;
  });
}
const hangingUp: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

function coded(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
