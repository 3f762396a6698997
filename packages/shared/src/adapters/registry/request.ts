/** One request to the registry by hand, over the same connections as the client's. */
import http from "node:http";
import https from "node:https";

export interface RegistryRequest {
  readonly url: string;
  readonly method: "GET" | "PUT" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** With the certificates of an `https:` URL; left out = Node's own. */
  readonly agent?: https.Agent | undefined;
  readonly signal: AbortSignal;
}

/** The status and the text, also of a refusal. Rejects where no answer comes. */
export function request({ url, method, headers, body, agent, signal }: RegistryRequest): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((done, fail) => {
    const { request: open } = url.startsWith("https:") ? https : http;
    const sent = open(url, { method, headers, signal, ...(agent && { agent }) }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => void pieces.push(piece)).once("error", fail);
      answer.once("end", () => done({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString("utf8") }));
    });
    sent.once("error", fail);
    sent.end(body);
  });
}
