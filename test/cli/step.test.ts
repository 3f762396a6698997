import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Workshop, patienceMs } from "./workshop.ts";

vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: patienceMs });

const command = `${process.execPath} ${join(import.meta.dirname, "../../packages/cli/src/main.ts")}`;

let shop: Workshop;
beforeEach(() => {
  shop = new Workshop();
  shop.write("tool.sh", '#!/bin/sh\necho "$LOOPLEDGER_IDEMPOTENCY_KEY" >> calls\nprintf \'{"deployed":true}\' > "$LOOPLEDGER_RESULT"\n');
  shop.write("check.sh", "#!/bin/sh\n[ -f done ]\n");
  shop.write("loopledger.config.json", JSON.stringify({
    makers: { m: { exec: ["./maker.sh"] } }, checks: { c: { exec: ["./check.sh"] } },
    tools: { deploy: { exec: ["./tool.sh"], contract: "idempotent" }, publish: { exec: ["./tool.sh"], contract: "idempotent", approval: "before" } },
  }));
});
afterEach(() => shop.close());

/** A maker that notes the answer and the exit code of each of these calls. */
function maker(...calls: string[]): void {
  const lines = calls.map((call) => `${command} step ${call} >> answers 2>> refusals; echo $? >> codes`);
  shop.write("maker.sh", `#!/bin/sh\n${lines.join("\n")}\ntouch done\n`);
}
const run = () => shop.run("run", "call the tools", "--id", "steps");

describe("step, from inside a maker written for a shell", () => {
  test("answers are JSON with 0; each refusal has a code of its own", async () => {
    maker(
      `tool deploy --args '{"version":1}' --key deploy:1`, `tool deploy --args '{"version":1}' --key deploy:1`,
      `tool deploy --args '{"version":2}' --key deploy:1`, "tool nothing", "budget", "context --tokens 1000",
      `observe --scope inbox --outcome observed --complete --items '["a.txt"]'`, "usage --cost 0.25 --tokens-in 10", `step once --input '"v1"' --result '{"n":1}'`,
      `observe '{"scope":3}'`,
    );
    expect(await run()).toMatchObject({ code: 0 });
    expect(shop.lines("codes")).toEqual(["0", "0", "13", "14", "0", "0", "0", "0", "0", "2"]);
    expect(shop.lines("calls")).toEqual(["deploy:1"]);
    expect(shop.read("answers")).toContain('"outcome": "confirmed"');
    expect(shop.read("refusals")).toMatch(/key_conflict \(409\)[\s\S]*unknown_tool \(404\)[\s\S]*bad_request \(400\)/);
    const { budget } = JSON.parse((await shop.run("status", "steps", "--json")).out);
    expect(budget.costUsd.spent).toBe(0.25);
  });

  test("a call that a person must approve leaves with 10, and the run with 3", async () => {
    maker("tool publish --key publish:1");
    expect(await run()).toMatchObject({ code: 3 });
    expect(shop.lines("codes")[0]).toBe("10");
    expect(shop.has("calls")).toBe(false);
  });
});
