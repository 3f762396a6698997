/** Takes secret values out of what a handler prints and says, before anything of it is kept. */
import type { Json } from "@loopledger/shared/core/json";

const mark = "[redacted]";
/** Shorter values are words that may stand anywhere. */
const shortest = 8;
const secretName = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|PRIVATE/i;

/** Those of the named environment variables whose name says that they hold a secret. */
export function secretValues(names: readonly string[], environment: Readonly<Record<string, string | undefined>>): string[] {
  return names.filter((name) => secretName.test(name)).map((name) => environment[name] ?? "");
}

export class Redactor {
  readonly #secrets: readonly string[];
  readonly #bytes: readonly Buffer[];
  #held: Buffer = Buffer.alloc(0);

  constructor(secrets: readonly string[]) {
    this.#secrets = [...new Set(secrets)].filter((secret) => secret.length >= shortest).sort((a, b) => b.length - a.length);
    this.#bytes = this.#secrets.map((secret) => Buffer.from(secret));
  }

  text(text: string): string {
    return this.#secrets.reduce((clean, secret) => clean.replaceAll(secret, mark), text);
  }

  json(value: Json): Json {
    if (this.#secrets.length === 0) return value;
    if (typeof value === "string") return this.text(value);
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((item: Json) => this.json(item));
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [this.text(key), this.json(member as Json)]));
  }

  /** A chunk of a stream without secrets. What may be the beginning of one is held back until the next chunk. */
  pass(chunk: Uint8Array): Uint8Array {
    if (this.#bytes.length === 0) return chunk;
    const whole = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const clean = this.#bytes.reduce(replaced, this.#held.length === 0 ? whole : Buffer.concat([this.#held, whole]));
    const hold = Math.max(...this.#bytes.map((secret) => beginningAtEnd(clean, secret)));
    this.#held = Buffer.from(clean.subarray(clean.length - hold));
    return clean.subarray(0, clean.length - hold);
  }

  rest(): Uint8Array {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    return held;
  }
}

function replaced(text: Buffer, secret: Buffer): Buffer {
  let at = text.indexOf(secret);
  if (at < 0) return text;
  const parts: Buffer[] = [];
  let from = 0;
  for (; at >= 0; at = text.indexOf(secret, from)) {
    parts.push(text.subarray(from, at), Buffer.from(mark));
    from = at + secret.length;
  }
  return Buffer.concat([...parts, text.subarray(from)]);
}

/** Length of the longest end of `text` that is a beginning of `secret`. */
function beginningAtEnd(text: Buffer, secret: Buffer): number {
  for (let length = Math.min(text.length, secret.length - 1); length > 0; length -= 1) {
    const from = text.length - length;
    let same = 0;
    while (same < length && text[from + same] === secret[same]) same += 1;
    if (same === length) return length;
  }
  return 0;
}
