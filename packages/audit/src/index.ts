/** The audit as a library: `audit(inputs, options)` gives a report; the command, tests and fault runs use the same. */
export { audit } from "./audit.ts";
export * from "./inputs.ts";
export { type CoverageLine, type Report, type Violation, exitOf } from "./report.ts";
export { type RowId, type VoidReason, rowIds, rows, voidReasons } from "./rows.ts";
export type { StatusDocument } from "./fold/view.ts";
