export interface ProcessStat {
  readonly state: string;
  readonly ppid: number;
  readonly pgid: number;
  readonly start: string;
}
export interface ProcessId {
  readonly pid: number;
  readonly start: string;
}
export interface RunProcesses {
  readonly marker: string;
  readonly group: number | null;
  readonly since: string;
}
export function statOf(pid: number): ProcessStat | null;
export function placeOf(): string;
export function self(): ProcessId;
export function isAlive(process: ProcessId): boolean;
export function membersOf(run: RunProcesses): number[];
export function endAll(look: () => readonly number[], options: { readonly killAt: () => number; readonly limitMs?: number }): Promise<boolean>;
