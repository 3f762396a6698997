/**
 * Services as processes around one ledger, and a watch on it from outside: what they claimed, what they did, how each session stands.
 * Effects are made on a target that is none of them and keeps a log of its own.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { OpenEngine } from "@loopledger/composition/engine/engine-options";
import { openEngine } from "@loopledger/composition/engine/open-engine";
import { readDeployment } from "@loopledger/composition/settings/deployment";
import type { SessionId } from "@loopledger/shared/core/brand";
import { goal } from "@loopledger/shared/core/events/goal";
import { openTopicWriter } from "@loopledger/shared/kafka";
import { submitGoal } from "@loopledger/shared/runtime";
import { type DistributedName, DeploymentUnderTest, type ServiceProcess } from "../services/deployment.ts";
import { until } from "../support/until.ts";
import type { Grounds, Variables } from "../support/worlds/grounds.ts";
import { type TargetServer, startTarget } from "../support/worlds/target-server.ts";
import { Watch } from "./watch.ts";

/** The machine may be busy with much else. */
export const patienceMs = 240_000;
const config = join(import.meta.dirname, "fixtures", "loopledger.config.mjs");
const olga = { kind: "human", id: "olga" } as const;

export interface Wanted {
  readonly door?: "idempotent" | "fenced" | "windowed" | "none";
  readonly iterations?: number;
  readonly stepMs?: number;
  /** The maker waits for as long as there is a file of this name. */
  readonly hold?: string;
  readonly failureFirst?: boolean;
}

export class Fleet extends DeploymentUnderTest {
  readonly server: TargetServer;
  readonly #opened: OpenEngine;
  readonly watch: Watch;
  /** What all its processes share: payloads, and the files that makers wait for. */
  readonly #shared: string;
  /** The goals that were submitted, by id. */
  readonly submitted = new Map<string, Wanted>();
  #places = 0;

  private constructor(grounds: Grounds, parts: { readonly shared: string; readonly server: TargetServer; readonly opened: OpenEngine }) {
    super(grounds);
    this.#shared = parts.shared;
    this.server = parts.server;
    this.#opened = parts.opened;
    this.watch = new Watch(parts.opened.engine);
  }
  static async open(grounds: Grounds): Promise<Fleet> {
    const folder = mkdtempSync(join(tmpdir(), "loopledger-fleet-"));
    const server = await startTarget(join(folder, "target"));
    mkdirSync(join(folder, "blobs"));
    for (const open of [folder, join(folder, "blobs")]) chmodSync(open, 0o777);
    const variables = {
      ...grounds.variables, FLEET_TARGET: server.url, FLEET_FOLDER: folder, LOOPLEDGER_CONFIG: config, LOOPLEDGER_BLOBS_URL: pathToFileURL(join(folder, "blobs")).href,
    };
    const opened = await openEngine(readDeployment(grounds.variables, join(folder, "watch")), { history: true, views: true });
    const fleet = new Fleet({ ...grounds, variables }, { shared: folder, server, opened });
    chmodSync(fleet.folder, 0o777);
    return fleet;
  }
  get engine(): OpenEngine["engine"] {
    return this.#opened.engine;
  }
  /** Starts a service on a data folder that nobody else has. */
  launch(service: DistributedName, more: Variables = {}, behind: readonly string[] = []): ServiceProcess {
    return this.start(service, { LOOPLEDGER_DATA: join(this.folder, `place-${++this.#places}`), LOOPLEDGER_LEASE_MS: "2000", ...more }, behind);
  }
  async launchAll(services: readonly DistributedName[], more: Variables = {}): Promise<ServiceProcess[]> {
    const started = services.map((service) => this.launch(service, more));
    await Promise.all(started.map((one) => one.ready()));
    return started;
  }

  hold(name: string): void {
    writeFileSync(join(this.#shared, name), "");
  }
  release(name: string): void {
    rmSync(join(this.#shared, name), { force: true });
  }

  async submit(id: string, wanted: Wanted = {}): Promise<void> {
    const { failureFirst = false, ...inputs } = wanted;
    this.submitted.set(id, wanted);
    await submitGoal(this.engine, goalOf(inputs, failureFirst), { actor: olga, id: id as SessionId });
  }
  /** Puts goals on the topic of other systems; the intake makes them sessions. */
  async put(ids: readonly string[], wantedOf: (id: string) => Wanted): Promise<void> {
    const connection = { brokers: (this.grounds.variables["LOOPLEDGER_KAFKA_BROKERS"] ?? "").split(",") };
    const { clock, ids: uuids } = this.engine;
    const writer = await openTopicWriter({ connection, topic: `${this.grounds.variables["LOOPLEDGER_TOPIC_PREFIX"]}.goals`, clock, ids: uuids });
    try {
      await writer.write(ids.map((id) => {
        const { failureFirst = false, ...inputs } = wantedOf(id);
        this.submitted.set(id, wantedOf(id));
        return { key: id, value: Buffer.from(JSON.stringify({ id, ...goalOf(inputs, failureFirst) })), headers: {} };
      }));
    } finally {
      await writer.close();
    }
  }
  /** All sessions are done; says of those that are not how they stand. */
  async allDone(timeoutMs = patienceMs): Promise<void> {
    const left = (): string[] => [...this.submitted.keys()].filter((id) => this.watch.dispositionOf(id) !== "done");
    await until(() => left().length === 0, { what: "every session to be done", timeoutMs }).catch((error: unknown) => {
      throw new Error(`not done: ${left().slice(0, 10).map((id) => `${id} ${this.watch.describe(id)}`).join("; ")}`, { cause: error });
    });
  }
  /** Rows of the target's own log, as the audit reads them. */
  effects(): string {
    return readFileSync(this.server.target.logPath, "utf8");
  }
  override async close(): Promise<void> {
    this.watch.close();
    await this.#opened.close();
    await super.close();
    await this.server.close();
    rmSync(this.#shared, { recursive: true, force: true, maxRetries: 5 });
  }
}

function goalOf(inputs: Wanted, failureFirst: boolean) {
  return goal.parse({ goal: "make versions", maker: "builds", check: "enough", inputs: { ...inputs }, policy: { failureFirst } });
}
