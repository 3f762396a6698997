/** The one place of the launcher that waits: for processes, which tell nobody when they are ready or gone. */
export function pause(ms: number): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, ms);
  });
}
