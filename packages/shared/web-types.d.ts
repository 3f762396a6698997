/**
 * The purity check compiles the core and the ports with no ambient types at all. Ports hand a stop signal
 * on, and its type is all that this declares: a type and no value, so nothing can be made or called with it.
 */
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
}
