/** Turns a record's JSON text into the bytes of a topic and back; the built-in one is plain UTF-8. */
export interface Schemas {
  encode(topic: string, text: string): Promise<Uint8Array>;
  /** null where the bytes are no record of ours; throws `unknown_schema` where the id is not known yet. */
  decode(topic: string, bytes: Uint8Array): Promise<string | null>;
}
