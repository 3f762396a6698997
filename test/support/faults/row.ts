/** One fault of the catalogue. */
export interface FaultRow {
  readonly number: number;
  readonly what: string;
  /** Tests that inject it without its number in their name. */
  readonly tests?: readonly TestPlace[];
  /** Why no test injects it, where none does. */
  readonly why?: string;
}
export interface TestPlace {
  readonly file: string;
  readonly name: string;
}
