/** The intake as a process: what it tells of itself, what it refuses to start with, and what it lives through. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { openDoor } from "../contract/registry-door.ts";
import { ownKafka, registryUrl } from "../support/parts/parts.ts";
import { Stage, goalText } from "./stage.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

let stage: Stage;
afterEach(() => stage.close());
const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;
const faultsOf = async (address: string): Promise<readonly string[]> => ((await (await fetch(`${address}/readyz`)).json()) as { readonly faults: readonly string[] }).faults;

describe("the intake as a process", () => {
  test("tells that it lives, that it takes work, and what it took; it drains with 0", async () => {
    stage = await Stage.make();
    await stage.put({ key: "a", value: goalText() }, { key: "b", value: "no goal" });
    const intake = stage.service("intake");
    const address = await intake.ready();
    await stage.waitFor("the goal", async () => (await stage.sessions()).join() === "a");
    expect([await statusOf(`${address}/healthz`), await statusOf(`${address}/readyz`)]).toEqual([200, 200]);
    const figures = await stage.waitFor("the figures", async () => {
      const text = await (await fetch(`${address}/metrics`)).text();
      return text.includes("loopledger_intake_goals_total 1") ? text : null;
    });
    expect(figures).toMatch(/^loopledger_intake_dead_letters_total\{reason="not_json"\} 1$/m);
    expect(figures).toMatch(/^loopledger_ledger_lag\{partition="0"\} 0$/m);
    intake.child.kill("SIGTERM");
    expect(await intake.ended).toMatchObject({ code: 0, err: expect.stringContaining("intake: draining") });
  });

  test("drains with 0 also while a record waits for the registry, and the next one takes it in", async () => {
    const door = await openDoor(await registryUrl());
    stage = await Stage.make({ more: { LOOPLEDGER_REGISTRY_URL: door.url } });
    try {
      expect(await stage.run("topics", "apply", "--partitions", "1")).toMatchObject({ code: 0 });
      const intake = stage.service("intake");
      const address = await intake.ready();
      door.silent(true);
      await stage.put({ key: "a", value: Uint8Array.from([0, 119, 53, 148, 1, ...Buffer.from(goalText())]) });
      await stage.waitFor("readiness to say so", async () => (await faultsOf(address)).includes("intake"));
      intake.child.kill("SIGTERM");
      expect(await intake.ended).toMatchObject({ code: 0 });
      expect(await stage.letters()).toEqual([]);
      door.silent(false);
      const next = stage.service("intake");
      await next.ready();
      await stage.waitFor("the dead letter", async () => (await stage.letters()).map(({ reason }) => reason).join() === "unknown_schema_id");
    } finally {
      await door.close();
    }
  });

  test("names all settings that cannot be right at once, and refuses topics that are not as they must be", async () => {
    stage = await Stage.make();
    const wrong = await stage.service("intake", { LOOPLEDGER_LEASE_MS: "soon", LOOPLEDGER_REDIS_URL: "", LOOPLEDGER_FAILPOINTS: "intake.nowhere=kill" }).ended;
    expect(wrong).toMatchObject({ code: 2, out: "" });
    for (const fault of ["LEASE_MS", "REDIS_URL: it is missing", "intake.nowhere"]) expect(wrong.err).toContain(fault);
    await stage.setting("goals", "cleanup.policy", "compact");
    const refused = await stage.service("intake").ended;
    expect(refused).toMatchObject({ code: 7, out: "" });
    expect(refused.err).toMatch(/goals[\s\S]*cleanup\.policy is compact[\s\S]*loopledger topics apply/);
  });

  test("lives through a broker that dies and comes back: nothing that was put is lost, and readiness is green again", async () => {
    const kafka = await ownKafka();
    try {
      stage = await Stage.make({ kafka: kafka.brokers });
      const intake = stage.service("intake");
      const address = await intake.ready();
      await stage.put({ key: "before", value: goalText() });
      await stage.waitFor("the first goal", async () => (await stage.sessions()).includes("before"));
      await kafka.kill();
      await stage.waitFor("readiness to say so", async () => (await faultsOf(address)).length > 0);
      await kafka.restart();
      await stage.put({ key: "after", value: goalText() }, { key: "bad", value: "no goal" });
      await stage.waitFor("the goal behind the outage", async () => (await stage.sessions()).includes("after"));
      await stage.waitFor("the letter", async () => (await stage.letters()).length === 1);
      await stage.waitFor("readiness", async () => (await statusOf(`${address}/readyz`)) === 200);
      intake.child.kill("SIGTERM");
      expect(await intake.ended).toMatchObject({ code: 0 });
      await stage.close();
    } finally {
      await kafka.stop();
    }
  });
});
