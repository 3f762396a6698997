/** One broken promise: its number in the audit's list, where, and in words. */
export interface Violation {
  readonly id: string;
  readonly session: string | null;
  readonly detail: string;
}
export type Say = (id: string, detail: string) => void;
