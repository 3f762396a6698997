/** What a contract suite is given. It registers its tests through vitest's own functions, so it runs wherever an adapter is tested. */
export type Vitest = Pick<typeof import("vitest"), "describe" | "it" | "expect">;

/** What a test opens and leaves behind; every test gets one of its own. */
export interface World {
  close(): Promise<void>;
}

/** Makes a test of a function that is given its own world, which is closed whatever becomes of the test. */
export function inWorld<W extends World>(make: () => Promise<W>, test: (world: W) => Promise<void>): () => Promise<void> {
  return async () => {
    const world = await make();
    try {
      await test(world);
    } finally {
      await world.close();
    }
  };
}
