/** Dead letters as people and programs deal with them: the command, the gateway, and the role among others. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { folderGrounds } from "../support/worlds/grounds.ts";
import { Stage, goalText } from "./stage.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

let stage: Stage;
afterEach(() => stage.close());
interface Answer { readonly items: readonly unknown[]; readonly next: string | null; readonly paths: unknown }
const rows = (out: string): Record<string, unknown>[] => out.split("\n").filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>);

describe("dead letters", () => {
  test("are listed, shown and put back by the command", async () => {
    stage = await Stage.make();
    const [a, b, c] = [0, 1, 2].map((offset) => `${stage.prefix}.goals-0-${offset}`) as [string, string, string];
    const none = await stage.run("ls");
    expect(none).toMatchObject({ code: 0, out: "", err: expect.stringMatching(/no sessions on [\s\S]*LOOPLEDGER_TOPIC_PREFIX names other topics, LOOPLEDGER_KAFKA_BROKERS another Kafka/) });
    expect(none.err).not.toContain("--data names");
    await stage.put({ key: "mended", value: '{"goal":"Mend it"' }, { key: "two words", value: goalText() }, { key: "k", value: Uint8Array.from([255, 0]), headers: { trace: Uint8Array.from([200]) }, repeats: { trace: [Uint8Array.from([7]), Uint8Array.from([])] } });
    await stage.intake();
    await stage.waitFor("three dead letters", async () => (await stage.letters()).length === 3);

    const listed = await stage.run("dlq", "list", "--json");
    expect(listed).toMatchObject({ code: 0, err: "" });
    expect(rows(listed.out).map(({ id, reason, source, cursor, replayedAt }) => ({ id, reason, source, cursor, replayedAt })).sort((x, y) => String(x.id).localeCompare(String(y.id)))).toEqual(
      ([[a, "not_json"], [b, "foreign_key"], [c, "not_json"]] as const).map(([id, reason], offset) => ({ id, reason, source: { topic: `${stage.prefix}.goals`, partition: 0, offset }, cursor: id, replayedAt: null })),
    );
    expect((await stage.run("dlq", "list")).out).toMatch(/not_json .* key mended .*\n.*key two words|key two words .*\n.*not_json .* key mended/);
    const page = rows((await stage.run("dlq", "list", "--json", "--limit", "2")).out);
    expect(page).toHaveLength(2);
    const rest = rows((await stage.run("dlq", "list", "--json", "--cursor", String(page[1]?.["cursor"]))).out);
    expect([...page, ...rest].map(({ id }) => id).sort()).toEqual([a, b, c]);
    expect(await stage.run("dlq", "list", "--cursor", "nowhere")).toMatchObject({ code: 2, out: "", err: expect.stringContaining("nowhere") });

    const shown = JSON.parse((await stage.run("dlq", "show", c, "--json")).out);
    expect(shown).toMatchObject({ id: c, key: { text: "k" }, value: { base64: "/wA=", text: null }, headers: { trace: { base64: "yA==", text: null } }, repeats: { trace: [{ base64: "Bw==" }, { base64: "" }] }, isCut: false });
    expect(await stage.run("dlq", "show", a)).toMatchObject({ code: 0, out: expect.stringMatching(/not_json[\s\S]*offset 0[\s\S]*mended[\s\S]*\{"goal":"Mend it"/) });
    expect((await stage.run("dlq", "show", a)).out).toMatch(/dlq replay \S+(?: --data \S+)? {2}with --file to put a mended goal in its place$/m);
    expect((await stage.run("dlq", "show", b)).out).toMatch(/dlq replay \S+(?: --data \S+)? {2}with --key SESSION to put another key in its place, or --no-key/);
    expect(await stage.run("dlq", "show", "none")).toMatchObject({ code: 2, out: "", err: expect.stringContaining("no dead letter none") });

    const file = stage.write("mended.yaml", "goal: Mend it at last\nmaker: m\ncheck: c\n");
    expect(JSON.parse((await stage.run("dlq", "replay", a, "--file", file, "--json")).out)).toMatchObject({ id: a, replayed: true, topic: `${stage.prefix}.goals` });
    expect(await stage.run("dlq", "replay", b, "--no-key")).toMatchObject({ code: 0 });
    expect(await stage.run("dlq", "replay", c)).toMatchObject({ code: 0, err: "" });
    await stage.waitFor("the sessions", async () => (await stage.sessions()).length === 2);
    const ledger = await stage.ledger();
    expect(ledger.sessions()).toEqual([b, "mended"].sort());
    expect(ledger.goals("mended").map(({ text }) => text)).toEqual(["Mend it at last"]);
    const again = await stage.waitFor("the one that is as bad as before", async () => (await stage.letters()).find(({ source }) => source.offset === 5));
    expect(again).toMatchObject({ reason: "not_json", replayedAt: null });
    expect(Buffer.from(again.headers["replay-of"] ?? []).toString()).toBe(c);
    expect((again.repeats?.["trace"] ?? []).map((content) => [...content])).toEqual([[7], []]);
    expect(await stage.run("dlq", "replay", a, "--file", file)).toMatchObject({ code: 0, err: expect.stringContaining("had been put back before") });
    expect(JSON.parse((await stage.run("dlq", "replay", a, "--file", file, "--json")).out)).toMatchObject({ replayed: true, before: expect.stringMatching(/^20/) });
    const marks = rows((await stage.run("dlq", "list", "--json")).out).map(({ id, replayedAt }) => [id, replayedAt !== null]);
    expect(Object.fromEntries(marks)).toEqual({ [a]: true, [b]: true, [c]: true, [again.id]: false });
  });

  test("are listed, shown and put back over HTTP, by programs and by the command on a gateway", async () => {
    stage = await Stage.make();
    await stage.put({ key: "mended", value: "no goal" }, { key: "other", value: goalText({ check: 7 }) });
    const served = stage.command(["serve", "--roles", "scheduler,projector,gateway,intake", "--port", "0", "--json"]);
    const port = await stage.waitFor("the process to serve", () => /"port": (\d+)/.exec(served.text())?.[1]);
    const url = `http://127.0.0.1:${port}`;
    const get = async (path: string) => (await (await fetch(`${url}${path}`)).json()) as Answer;
    const post = (path: string, body: object) => fetch(`${url}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    await stage.waitFor("two dead letters", async () => (await get("/v1/dead-letters")).items.length === 2);
    const first = await get("/v1/dead-letters?limit=1");
    expect(first).toMatchObject({ items: [{ reason: expect.any(String), source: { topic: `${stage.prefix}.goals`, partition: 0 } }], next: expect.any(String) });
    expect(await get(`/v1/dead-letters?cursor=${first.next}`)).toMatchObject({ items: [{}], next: null });
    expect((await fetch(`${url}/v1/dead-letters?cursor=nowhere`)).status).toBe(400);
    const id = `${stage.prefix}.goals-0-0`;
    expect(await get(`/v1/dead-letters/${id}`)).toMatchObject({ id, reason: "not_json", key: { text: "mended" }, value: { text: "no goal" } });
    expect((await fetch(`${url}/v1/dead-letters/nothing`)).status).toBe(404);
    expect((await post("/v1/dead-letters/nothing/replay", {})).status).toBe(404);
    expect((await post(`/v1/dead-letters/${id}/replay`, { txet: "x" })).status).toBe(400);
    expect(await (await post(`/v1/dead-letters/${id}/replay`, { text: goalText() })).json()).toMatchObject({ id, replayed: true });
    await stage.waitFor("the session", async () => (await fetch(`${url}/v1/sessions/mended`)).status === 200);

    const listed = await stage.run("dlq", "list", "--json", "--url", url);
    expect(rows(listed.out).map((row) => row["id"]).sort()).toEqual([id, `${stage.prefix}.goals-0-1`]);
    const file = stage.write("mended.json", goalText({ goal: "The other one" }));
    expect(await stage.run("dlq", "replay", `${stage.prefix}.goals-0-1`, "--file", file, "--url", url)).toMatchObject({ code: 0 });
    await stage.waitFor("the other session", async () => (await fetch(`${url}/v1/sessions/other`)).status === 200);
    const figures = await (await fetch(`${url}/metrics`)).text();
    expect(figures).toMatch(/^loopledger_intake_goals_total 2$/m);
    expect((await get("/openapi.json")).paths).toMatchObject({ "/v1/dead-letters": { get: {} }, "/v1/dead-letters/{id}/replay": { post: {} } });
    served.child.kill("SIGTERM");
    expect(await served.ended).toMatchObject({ code: 0 });
  });
});

describe("without Kafka", () => {
  test("there are no dead letters, an intake alone is refused, and among other roles it is told that it has no topic", async () => {
    stage = await Stage.make();
    const folder = { ...folderGrounds.variables, LOOPLEDGER_KAFKA_BROKERS: "", LOOPLEDGER_REDIS_URL: "", LOOPLEDGER_TOPIC_PREFIX: "" };
    const on = (...words: string[]) => stage.command(words, folder).ended;
    expect(await on("dlq", "list", "--json")).toEqual({ code: 0, out: "", err: "" });
    expect(await on("dlq", "list")).toMatchObject({ code: 0, out: "", err: expect.stringMatching(/no dead letters[\s\S]*no goals topic[\s\S]*LOOPLEDGER_KAFKA_BROKERS/) });
    expect(await on("dlq", "show", "x")).toMatchObject({ code: 2, out: "" });
    expect(await on("serve", "--roles", "intake", "--port", "0")).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/goals topic[\s\S]*LOOPLEDGER_KAFKA_BROKERS/) });
    expect(await stage.service("intake", folder).ended).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/goals topic[\s\S]*LOOPLEDGER_KAFKA_BROKERS/) });
    const served = stage.command(["serve", "--roles", "scheduler,intake", "--port", "0"], folder);
    await served.ready();
    expect(served.text()).toContain("a data folder has no goals topic");
    served.child.kill("SIGTERM");
    expect(await served.ended).toMatchObject({ code: 0 });
  });
});

describe("a config", () => {
  test("beside the intake tells it which handlers there are; without one every name is taken", async () => {
    stage = await Stage.make();
    await stage.put({ key: "a", value: goalText() }, { key: "b", value: goalText({ maker: "agent" }) });
    stage.write("loopledger.config.json", JSON.stringify({ makers: { agent: { exec: ["true"] } }, checks: { c: { exec: ["true"] } } }));
    const knowing = stage.service("intake");
    await knowing.ready();
    await stage.waitFor("the known one", async () => (await stage.sessions()).join() === "b" && (await stage.letters()).map(({ reason }) => reason).join() === "unknown_handler");
    knowing.child.kill("SIGTERM");
    await knowing.ended;
    stage.write("loopledger.config.json", "{}");
    expect(await stage.run("dlq", "replay", `${stage.prefix}.goals-0-0`)).toMatchObject({ code: 0 });
    const served = stage.command(["serve", "--roles", "intake", "--port", "0", "--config", stage.write("other.json", JSON.stringify({ makers: { m: { exec: ["true"] } }, checks: { c: { exec: ["true"] } } }))]);
    await served.ready();
    await stage.waitFor("both", async () => (await stage.sessions()).join() === "a,b");
  });
});
