/** What holds of the services as processes, on whatever they stand. */
import { join } from "node:path";
import { openEngine } from "@loopledger/composition/engine/open-engine";
import { readDeployment } from "@loopledger/composition/settings/deployment";
import { startProjector } from "@loopledger/projector/projector";
import type { SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import { submitGoal } from "@loopledger/shared/runtime";
import { goalOf } from "@loopledger/shared/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../support/until.ts";
import type { Grounds } from "../support/worlds/grounds.ts";
import { carryToEnd, person } from "../support/walks.ts";
import { acceptedOf } from "../support/worlds/oracle.ts";
import { DeploymentUnderTest, type ServiceProcess, type ServiceName, patienceMs, serviceNames } from "./deployment.ts";

export function servicesSuite(name: string, makeGrounds: () => Promise<Grounds>): void {
  vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: patienceMs });
  let deployed: DeploymentUnderTest;
  const deploy = async (): Promise<void> => {
    deployed = new DeploymentUnderTest(await makeGrounds());
  };

  async function startAll(more: Readonly<Record<string, string>> = {}): Promise<Record<ServiceName, ServiceProcess>> {
    const started = Object.fromEntries(serviceNames.map((service) => [service, deployed.start(service, more)])) as Record<ServiceName, ServiceProcess>;
    await Promise.all(Object.values(started).map((one) => one.ready()));
    return started;
  }
  const waitFor = (what: string, condition: () => unknown): Promise<unknown> => until(condition, { what, timeoutMs: patienceMs });
  const submitHeld = async (id = "two"): Promise<void> => {
    deployed.write("hold", "");
    expect(await deployed.run("submit", "goal.json", "--id", id)).toMatchObject({ code: 0, out: `${id}\n` });
    await waitFor("the maker", () => deployed.lines("pids").length > 0);
  };
  async function expectDone(id = "two"): Promise<void> {
    const waited = await deployed.run("wait", id, "--timeout", "150");
    expect(waited, waited.err).toMatchObject({ code: 0 });
    const { state } = await deployed.folded(id);
    expect(statusOf(state)).toMatchObject({ disposition: "done", iteration: 2, receipt: { sessionId: id } });
    expect(await deployed.broken(id)).toEqual([]);
  }

  describe(`services on ${name}, one after the other`, () => {
    let services: Record<ServiceName, ServiceProcess>;
    beforeAll(async () => {
      await deploy();
      services = await startAll();
    });
    afterAll(() => deployed.close());

    test.each(serviceNames)("the %s is killed in the midst, and another one goes on", async (victim) => {
      const id = `without-${victim}`;
      for (const file of ["work", "pids"]) deployed.remove(file);
      await submitHeld(id);
      services[victim].kill("SIGKILL");
      await services[victim].ended;
      services[victim] = deployed.start(victim);
      await services[victim].ready();
      deployed.remove("hold");
      await expectDone(id);
      await waitFor("the view", async () => (await deployed.view(id))?.disposition === "done");
    });
  });

  describe(`services on ${name}`, () => {
    beforeEach(deploy);
    afterEach(() => deployed.close());

    test("one session goes through five processes to its receipt, and each tells of itself", async () => {
      const services = await startAll();
      expect(await deployed.run("submit", "goal.json")).toMatchObject({ code: 0, out: "two\n" });
      await expectDone();
      expect(deployed.lines("work")).toHaveLength(2);
      const claimers = acceptedOf(await deployed.folded("two")).flatMap((record) => (record.type === "claimed" ? [record.data.host.pid] : []));
      expect([...new Set(claimers)].toSorted()).toEqual([services.worker.child.pid, services.checker.child.pid].toSorted());
      await waitFor("the view", async () => (await deployed.view("two"))?.disposition === "done");
      for (const service of Object.values(services)) {
        expect(await service.text("/healthz")).toMatchObject({ status: 200 });
        await waitFor(`readiness of the ${service.name}`, async () => (await service.text("/readyz")).status === 200);
        const figures = await waitFor(`the ${service.name} to have read everything`, async () => {
          const { body } = await service.text("/metrics");
          return /^loopledger_ledger_lag\{partition="0"\} 0$/m.test(body) && body;
        });
        expect(figures, service.name).toMatch(/^loopledger_records_total\{verdict="accepted"\} [1-9]/m);
      }
      expect((await services.worker.text("/metrics")).body).toMatch(/^loopledger_append_seconds_count [1-9]/m);
      const status = JSON.parse((await services.gateway.text("/v1/sessions/two")).body);
      expect(status).toMatchObject({ disposition: "done", receipt: { sessionId: "two" } });
      expect(JSON.parse((await deployed.run("status", "two", "--json")).out)).toEqual(status);
    });

    test("a drain hands back the step that runs, releases the lease and leaves with 0 within its time", async () => {
      const { worker, checker, scheduler, projector, gateway } = await startAll({ LOOPLEDGER_LEASE_MS: "20000" });
      await submitHeld();
      for (const one of [worker, checker, scheduler, projector, gateway]) one.kill("SIGTERM");
      for (const one of [worker, checker, scheduler, projector, gateway]) expect(await one.ended, one.err).toMatchObject({ code: 0 });
      const types = acceptedOf(await deployed.folded("two")).map(({ type }) => type);
      expect(types.at(-1)).toBe("handed_back");
      deployed.remove("hold");
      // The lease was released: the next worker need not wait for its end.
      for (const service of serviceNames) await deployed.start(service, { LOOPLEDGER_LEASE_MS: "20000" }).ready();
      await expectDone();
    });

    test("what reads and acts works beside the services", async () => {
      await startAll();
      await submitHeld();
      expect(JSON.parse((await deployed.run("status", "two", "--json")).out)).toMatchObject({ disposition: "running", active: "build" });
      expect((await deployed.run("ls", "--json")).out.split("\n").filter(Boolean)).toHaveLength(1);
      expect(await deployed.run("pause", "two")).toMatchObject({ code: 0 });
      deployed.remove("hold");
      await waitFor("the pause", async () => statusOf((await deployed.folded("two")).state).reason === "paused");
      expect(await deployed.run("resume", "two")).toMatchObject({ code: 0 });
      await expectDone();
      expect((await deployed.run("events", "two", "--json")).out.split("\n").filter(Boolean).length).toBe((await deployed.folded("two")).state.seq);
      expect(JSON.parse((await deployed.run("explain", "two", "--json")).out)).toMatchObject({ answers: { active: { answer: false } } });
      const dumped = await deployed.run("ledger", "dump");
      deployed.write("dump.ndjson", dumped.out);
      expect(await deployed.run("audit", "--dump", "dump.ndjson")).toMatchObject({ code: 0 });
    });

    test("a start follows the sessions that are alive, not the length of the ledger", async () => {
      const place = readDeployment(deployed.grounds.variables, join(deployed.folder, ".loopledger"));
      const alive: string[] = [];
      const first = await openEngine(place, { history: true, views: true });
      const projector = await startProjector(first.engine);
      for (let number = 1; number <= 12; number++) {
        const { sessionId } = await submitGoal(first.engine, goalOf({}), { actor: person, id: `s-${number}` as SessionId });
        if (number % 4 === 0) alive.push(sessionId);
        else await carryToEnd(first.engine, sessionId);
      }
      await projector.caughtUp();
      await projector.stop();
      await first.close();
      const second = await openEngine(place, { history: true, views: true });
      expect(second.engine.folds.ids().toSorted()).toEqual(alive.toSorted());
      expect(statusOf(await second.engine.folds.open("s-4" as SessionId)).disposition).toBe("running");
      await second.close();
    });

    test("run, advance and serve carry sessions there", async () => {
      expect(await deployed.run("run", "own", "--maker", "sh -c 'touch made'", "--check", "test -f made", "--id", "own")).toMatchObject({ code: 0 });
      expect(await deployed.run("submit", "goal.json")).toMatchObject({ code: 0 });
      const codes: (number | string)[] = [];
      do codes.push((await deployed.run("advance", "two")).code);
      while (codes.at(-1) === 8 && codes.length < 10);
      expect(codes).toEqual([8, 8, 8, 8, 0]);
      deployed.write("other.json", JSON.stringify({ id: "other", goal: "Two lines", maker: "m", check: "c", policy: { failureFirst: false } }));
      const served = deployed.command("serve", "--roles", "scheduler,worker,checker,projector", "--port", "0");
      await waitFor("ready", () => /^ready$/m.test(served.out));
      expect(await deployed.run("submit", "other.json", "--wait")).toMatchObject({ code: 0 });
      served.kill("SIGTERM");
      expect(await served.ended).toMatchObject({ code: 0 });
    });
  });
}
