/** What is used of redlock: its own types are not found where a package's exports are followed. */
declare module "redlock" {
  export class Lock {
    /** Rejects where the lock is no longer held. */
    extend(durationMs: number): Promise<Lock>;
    release(): Promise<unknown>;
  }
  export interface Settings {
    readonly driftFactor: number;
    readonly retryCount: number;
    readonly retryDelay: number;
    readonly retryJitter: number;
  }
  export default class Redlock {
    constructor(clients: Iterable<object>, settings?: Partial<Settings>);
    /** Rejects where another one holds the resource, or too few servers answered. `durationMs` is a whole number. */
    acquire(resources: string[], durationMs: number): Promise<Lock>;
  }
}
