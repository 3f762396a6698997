/** Intakes that are killed, that come and go: no goal is lost, and none is there twice. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { Stage, goalText } from "./stage.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

describe("an intake that is killed", () => {
  let stage: Stage;
  afterEach(() => stage.close());

  test.each(["intake.before_append", "intake.after_append"])("at %s loses nothing and takes nothing twice", async (point) => {
    stage = await Stage.make({ partitions: 2 });
    const goals = Array.from({ length: 12 }, (_, i) => ({ key: `goal-${i}`, value: goalText({ goal: `Goal ${i}` }) }));
    const bad = Array.from({ length: 4 }, (_, i) => ({ key: `goal-${i}`, value: "no goal" }));
    await stage.put(...goals.flatMap((goal, i) => [goal, ...(bad[i] ? [bad[i]] : [])]));
    const killed = stage.service("intake", { LOOPLEDGER_FAILPOINTS: `${point}=kill@5` });
    expect(await killed.ended).toMatchObject({ code: "SIGKILL", err: expect.stringContaining(`failpoint ${point} fired`) });
    const again = stage.service("intake");
    await again.ready();
    await stage.waitFor("every goal and every dead letter", async () => (await stage.sessions()).length === goals.length && (await stage.letters()).length === bad.length);
    const ledger = await stage.ledger();
    for (const { key } of goals) expect(ledger.goals(key)).toHaveLength(1);
    const written = await stage.lettersWritten();
    expect(written).toBe(bad.length);
    // Handled and done: what comes next is all that a third one takes.
    again.child.kill("SIGTERM");
    expect(await again.ended).toMatchObject({ code: 0 });
    await stage.put({ key: "last", value: goalText() });
    const third = stage.service("intake");
    await third.ready();
    await stage.waitFor("the last goal", async () => (await stage.sessions()).includes("last"));
    expect(await figureOf(await third.ready())).toBe(1);
  });

  test("F28 stopped in the middle until its group has thrown it out, and woken after another one has gone on changes nothing; it joins again", async () => {
    stage = await Stage.make();
    const goals = Array.from({ length: 10 }, (_, i) => ({ key: `goal-${i}`, value: goalText({ goal: `Goal ${i}` }) }));
    await stage.put(...goals, { key: "goal-1", value: "no goal" });
    const slept = stage.service("intake", { LOOPLEDGER_FAILPOINTS: "intake.before_append=stop@4" });
    await stage.waitFor("it to stop itself", () => slept.text().includes("fired"));
    const other = stage.service("intake");
    await stage.waitFor("every goal by the other one", async () => (await stage.sessions()).length === goals.length && (await stage.letters()).length === 1);
    slept.child.kill("SIGCONT");
    await stage.put({ key: "last", value: goalText() });
    await stage.waitFor("the last goal", async () => (await stage.sessions()).includes("last"));
    other.child.kill("SIGTERM");
    await other.ended;
    await stage.put({ key: "after", value: goalText() });
    await stage.waitFor("a goal by the one that was thrown out", async () => (await stage.sessions()).includes("after"));
    slept.child.kill("SIGTERM");
    await slept.ended;
    const ledger = await stage.ledger();
    for (const key of [...goals.map((goal) => goal.key), "last", "after"]) expect(ledger.goals(key)).toHaveLength(1);
    expect(await stage.letters()).toHaveLength(1);
  });

  test("a thousand goals go through two intakes, one of which comes late and one of which leaves", async () => {
    stage = await Stage.make({ partitions: 4 });
    const goals = Array.from({ length: 1_000 }, (_, i) => ({ key: `goal-${i}`, value: goalText({ goal: `Goal ${i}` }) }));
    const first = stage.service("intake");
    await first.ready();
    await stage.put(...goals.slice(0, 300));
    const second = stage.service("intake");
    await second.ready();
    await stage.put(...goals.slice(300, 600));
    await stage.waitFor("half of the goals", async () => (await stage.sessions()).length >= 500);
    first.child.kill("SIGTERM");
    await stage.put(...goals.slice(600));
    expect(await first.ended).toMatchObject({ code: 0 });
    await stage.waitFor("all of the goals", async () => (await stage.sessions()).length === goals.length);
    const ledger = await stage.ledger();
    const wrong = goals.flatMap(({ key }, i) => (ledger.goals(key).map(({ text }) => text).join() === `Goal ${i}` ? [] : [key]));
    expect(wrong).toEqual([]);
    expect(await stage.letters()).toEqual([]);
  });
});

async function figureOf(address: string): Promise<number> {
  const figures = await (await fetch(`${address}/metrics`)).text();
  return Number(/^loopledger_intake_goals_total (\d+)$/m.exec(figures)?.[1] ?? -1);
}
