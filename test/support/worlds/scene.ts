/** A world, the target that its processes deploy to, and what has joined: opened for one test and taken away after it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Deploying, deploying } from "./deploying.ts";
import { type Folded, brokenBy, brokenEffects, foldSession } from "./oracle.ts";
import type { Peer } from "./peer.ts";
import { Target } from "./target.ts";
import type { Joining, World } from "./world.ts";

export class Scene {
  readonly world: World;
  readonly target: Target;
  readonly #folder: string;
  readonly #peers: Peer[] = [];

  constructor(world: World) {
    this.world = world;
    this.#folder = mkdtempSync(join(tmpdir(), "loopledger-scene-"));
    this.target = new Target(this.#folder);
  }

  /** A process that deploys like this; it takes nothing before it is told to work. */
  async joins(how: Partial<Deploying> = {}, joining: Omit<Partial<Joining>, "handlers"> = {}): Promise<Peer> {
    const peer = await this.world.join({ ...joining, handlers: deploying({ target: this.target, ...how }) });
    this.#peers.push(peer);
    return peer;
  }
  async works(how: Partial<Deploying> = {}, joining: Omit<Partial<Joining>, "handlers"> = {}): Promise<Peer> {
    const peer = await this.joins(how, joining);
    peer.work();
    return peer;
  }

  async folded(id: string): Promise<Folded> {
    return foldSession(await this.world.entries(), id as never);
  }
  /** What the session's records break of the promises, by themselves and against the target's log; nothing for a sound one. */
  async broken(id: string): Promise<readonly string[]> {
    const folded = await this.folded(id);
    return [...brokenBy(folded), ...brokenEffects(folded, this.target.rows())];
  }

  async close(): Promise<void> {
    for (const peer of this.#peers) if (peer.process.state === "running") await this.world.drive(peer.leave());
    await this.world.close();
    this.target.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
