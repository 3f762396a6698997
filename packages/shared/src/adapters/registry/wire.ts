/** The registry's wire format: a zero byte, the schema's id in four bytes, then the JSON. Plain JSON never begins with a zero byte. */

const HEAD_BYTES = 5;

export interface Wire {
  readonly id: number;
  readonly payload: Uint8Array;
}

/** null where the bytes are in another form. */
export function readWire(bytes: Uint8Array): Wire | null {
  if (bytes[0] !== 0 || bytes.length < HEAD_BYTES) return null;
  return { id: new DataView(bytes.buffer, bytes.byteOffset).getUint32(1), payload: bytes.subarray(HEAD_BYTES) };
}

export function writeWire(id: number, text: string): Uint8Array {
  const payload = new TextEncoder().encode(text);
  const bytes = new Uint8Array(HEAD_BYTES + payload.length);
  new DataView(bytes.buffer).setUint32(1, id);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** null where the bytes are no UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}
