/** Bytes of a record as texts. Values go through the registry where there is one: what it cannot answer now is thrown, and the record waits. */
import { isLoopledgerError } from "@loopledger/shared/core/errors";
import { positionName } from "@loopledger/shared/core/topics/dead-letters";
import type { InboxRecord, Schemas } from "@loopledger/shared/ports";
import { replayOfHeader } from "@loopledger/shared/runtime";
import type { RecordTexts, ValueText } from "./record.ts";

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** The registry's frame: a zero byte and the id of a schema. */
const frameBytes = 5;
const unframed = (bytes: Uint8Array): Uint8Array => (bytes[0] === 0 && bytes.length >= frameBytes ? bytes.subarray(frameBytes) : bytes);

/** Throws `registry_unreachable`. */
export async function textsOf(record: InboxRecord, schemas: Schemas | undefined): Promise<RecordTexts> {
  const { source, key, value } = record;
  const headers = Object.fromEntries(Object.entries(record.headers).map(([name, content]) => [name, lenient.decode(content)]));
  return {
    // A record that was put back is the one that it was before.
    position: isPosition(headers[replayOfHeader]) ? headers[replayOfHeader] : positionName(source),
    key: key === null ? null : lenient.decode(unframed(key)), headers,
    value: await valueTextOf(record, schemas), bytes: value?.byteLength ?? 0,
  };
}

function isPosition(name: string | undefined): name is string {
  return name !== undefined && /^[A-Za-z0-9._-]{1,249}-\d{1,10}-\d{1,16}$/.test(name);
}

async function valueTextOf({ source, value }: InboxRecord, schemas: Schemas | undefined): Promise<ValueText> {
  if (value === null) return { kind: "none" };
  try {
    const text = schemas ? await schemas.decode(source.topic, value) : plain(unframed(value));
    if (text !== null) return { kind: "text", text };
    return plain(unframed(value)) === null ? { kind: "not_text", mended: lenient.decode(unframed(value)) } : { kind: "other_schema" };
  } catch (error) {
    if (!isLoopledgerError(error, "unknown_schema")) throw error;
    return { kind: "unknown_schema", detail: error.message };
  }
}

function plain(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}
