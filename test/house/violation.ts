/** The tool that has to go red, and what its report must say about the file. */
export type Tool = "deps" | "lint" | "purity" | "types" | "boundaries" | "tidy";

export interface Violation {
  /** What is broken, in words. */
  readonly what: string;
  readonly tool: Tool;
  /** The rule, as the tool's report names it. */
  readonly rule: string;
  /** Where the code goes; each violation has a file of its own. */
  readonly path: string;
  readonly code: string;
}
