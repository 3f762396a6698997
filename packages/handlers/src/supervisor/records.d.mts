export interface RunRecord {
  readonly run: string;
  readonly kind: "cycle" | "tool";
  readonly epoch: number;
  readonly supervisor: { readonly pid: number; readonly start: string };
  readonly place: string;
  readonly group: { readonly pid: number; readonly start: string } | null;
}
export function writeRecord(folder: string, record: RunRecord): void;
export function newRecord(run: Pick<RunRecord, "run" | "kind" | "epoch">): RunRecord;
export function removeRecord(folder: string, run: string): void;
export function runFolderOf(folder: string, run: string): string;
export function removeRunFolder(folder: string, run: string): void;
export function readRecords(folder: string): RunRecord[];
export function endRecorded(folder: string, options: { readonly which: (record: RunRecord) => boolean; readonly graceMs: number }): Promise<boolean>;
