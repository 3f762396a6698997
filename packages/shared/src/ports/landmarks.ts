/**
 * Where the keys of a log's beginning lie, written down by whoever has read it, one text a partition, for who comes later. A cache: what is
 * missing, damaged or old costs a reading and nothing else. Nothing here throws.
 */
export interface Landmarks {
  /** Null where there is none, or where the service does not answer. */
  load(partition: number): Promise<string | null>;
  save(partition: number, text: string): Promise<void>;
  close(): Promise<void>;
}
