/** What could not be brought up, in words, with what mends it. */
export class InfraError extends Error {
  override readonly name = "InfraError";
  readonly code: string;
  /** What to do next, for the person who reads it. */
  readonly next: string;

  constructor(code: string, message: string, options: { readonly next: string; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.next = options.next;
  }
}
