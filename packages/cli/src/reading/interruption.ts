/** Work that goes on until Ctrl-C or SIGTERM, and then ends in order. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const name of signals) process.once(name, stop);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of signals) process.removeListener(name, stop);
  }
}
