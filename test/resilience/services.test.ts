import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SessionId } from "@loopledger/shared/core/brand";
import { compare } from "../../services/projector/src/comparison.ts";
import { type StreamClient, streaming } from "../gateway/serving.ts";
import { until } from "../support/until.ts";
import { type ServiceReactor, firstId, reactorsOf } from "./service-reactors.ts";
import { patienceMs } from "./struck.ts";
import { type ServiceName, StruckServices, serviceNames } from "./struck-services.ts";

let stage: StruckServices;
beforeAll(async () => {
  stage = new StruckServices();
  await stage.begin();
  await stage.submit(firstId);
  await stage.untilDone(firstId);
}, patienceMs);
afterAll(() => stage.close());

/** The session is done, and each of its events came once and in order. */
async function expectEveryEventOnce(id: string, live: StreamClient): Promise<void> {
  const seq = await stage.untilDone(id);
  const seqs = (): number[] => live.events.filter((one) => one.data.sessionId === id).map((one) => one.data.seq);
  await until(() => seqs().length >= seq, { what: `the ${seq} events of ${id}`, timeoutMs: patienceMs });
  expect(seqs()).toEqual(Array.from({ length: seq }, (_, index) => index + 1));
}

async function strikeAndMend(service: ServiceName, { name, tell, get, ...submitted }: ServiceReactor): Promise<void> {
  const struck = stage.service(service);
  const id = `${service}-${name.replaceAll(".", "-")}`;
  const live = await streaming(`${await stage.service("gateway").url()}/v1/stream`);
  await struck.tell({ strike: name, ...tell });
  if (get !== undefined) await stage.ask(get);
  await stage.submit(id, submitted);
  await struck.untilFaulty(name);
  expect(struck.lives).toBe(true);
  await struck.tell({ mend: true });
  stage.letGoOn(id);
  await struck.untilReady();
  await expectEveryEventOnce(id, live);
  expect(struck.lives).toBe(true);
}

describe.each(serviceNames)("a throw in each reactor of the %s as a process of its own: it lives, readiness tells the name, it recovers, nothing is lost", (service) => {
  const { struck, never } = reactorsOf[service];
  test.each(struck.map((reactor) => [reactor.name, reactor] as const))("%s", { timeout: 3 * patienceMs }, (_name, reactor) => strikeAndMend(service, reactor));

  test("every name that it registered was struck, or cannot fail there", async () => {
    expect(await stage.service(service).tell({ names: true })).toEqual([...struck.map(({ name }) => name), ...Object.keys(never)].sort());
  });
});

test("afterwards the views equal a fresh fold of the ledger", async () => {
  await until(async () => (await compare(stage.outside, "main")).equal, { what: "the views to equal a fresh fold", timeoutMs: patienceMs });
  expect(await stage.outside.views?.get("main", firstId as SessionId)).toContain('"disposition":"done"');
}, patienceMs);
