/**
 * The guards that make the rule safe, each of which can be taken away to see what it holds back.
 * Every program composes with `guardsOn`; only test code may make another value.
 */
export interface Guards {
  /** Owner records count only under the current epoch and owner. */
  readonly fence: boolean;
  /** A repeat of an accepted record changes nothing. */
  readonly dedupe: boolean;
  /** A projection is written only on top of exactly the cursor that it was folded from. */
  readonly cursorCompare: boolean;
  /** An owner acts only on what it has read back as accepted. */
  readonly readBack: boolean;
  /** The check runs before any work. */
  readonly failureFirst: boolean;
  /** The final check counts only for a revision that did not move while it ran. */
  readonly receiptFreshness: boolean;
  /** Records that belong together reach the log together or not at all. */
  readonly batchAtomicity: boolean;
}

export const guardsOn: Guards = {
  fence: true, dedupe: true, cursorCompare: true, readBack: true, failureFirst: true, receiptFreshness: true, batchAtomicity: true,
};
