/** What can go wrong between a process and the memory ledger. Read at every request, so a run may change them on the way. */
export interface LedgerFaults {
  /** Probability that a request never reaches the log; its caller hears `ledger_unreachable` after `timeoutMs`. */
  drop?: number;
  /** Probability that what reached the log is appended a second time, later. */
  duplicate?: number;
  /** Probability that the log took the request and the answer is lost; its caller hears `ledger_unreachable`. */
  loseAck?: number;
  /** One way, drawn anew for request and answer. Requests of different sessions overtake each other; those of one do not. */
  delayMs?: readonly [number, number];
  /** Between the append and its delivery to a subscription of this handle. */
  lagMs?: readonly [number, number];
  /** Largest piece that a listener gets at once; sizes are drawn from 1 to this. */
  chunkMax?: number;
  /** Probability that a read sees nothing that is younger than `staleMs`, beyond what its handle has shown before. */
  staleRead?: number;
  staleMs?: number;
  /** Longest wait for an answer (default 1,000). */
  timeoutMs?: number;
  /** Probability that a batch is torn: its head is appended alone, its rest later or never. Only where `batchAtomicity` is off. */
  split?: number;
}

/** What can go wrong between a process and the lease service. */
export interface OwnershipFaults {
  /** Probability that the service does not answer. */
  unreachable?: number;
  /** Probability that a renewal finds the lease gone. */
  lose?: number;
  /** Probability that a second caller is let in although the resource is taken. */
  twice?: number;
}

/** What can go wrong between a process and the read models. */
export interface ReadModelFaults {
  /** Probability that `get` or `list` shows a view as it was one write earlier. */
  staleRead?: number;
  /** Probability that a write is applied and its answer is lost: the caller hears `views_unreachable`. */
  loseAck?: number;
  /** Probability that a write never arrives: the caller hears `views_unreachable`. */
  drop?: number;
}
