import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { kafkaBrokers } from "../support/parts/parts.ts";
import { KafkaProxy } from "../support/parts/proxy.ts";
import { until } from "../support/until.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let proxy: KafkaProxy;
let socket: Socket;
/** Correlation ids of the answers, in the order in which they came. */
let answered: number[];
let closed: boolean;

async function dial(): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  answered = [];
  closed = false;
  const dialled = connect(proxy.port, "127.0.0.1");
  socket = dialled;
  // An earlier one may say late that it is closed.
  socket.on("error", () => undefined).on("close", () => {
    if (socket === dialled) closed = true;
  });
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 8 && rest.length >= 4 + rest.readInt32BE(0)) {
      answered.push(rest.readInt32BE(4));
      rest = rest.subarray(4 + rest.readInt32BE(0));
    }
  });
  await until(() => !socket.connecting, { what: "the connection" });
}

/** ApiVersions, version 0, from a client without a name; split in two, as a network may. */
function ask(correlationId: number): void {
  const frame = Buffer.alloc(14);
  frame.writeInt32BE(10, 0);
  frame.writeInt16BE(18, 4);
  frame.writeInt32BE(correlationId, 8);
  frame.writeInt16BE(-1, 12);
  socket.write(frame.subarray(0, 5));
  socket.write(frame.subarray(5));
}

beforeEach(async () => {
  const [first = ""] = (await kafkaBrokers()).split(",");
  proxy = await KafkaProxy.start(Number(first.split(":").at(-1)));
  await dial();
});
afterEach(async () => {
  socket.destroy();
  await proxy.stop();
});

describe("the proxy before a broker", () => {
  test("hands on what no rule names, and says what came", async () => {
    ask(1);
    ask(2);
    await until(() => answered.length === 2, { what: "both answers" });
    expect(answered).toEqual([1, 2]);
    expect(proxy.seen).toEqual([{ api: "ApiVersions", correlationId: 1 }, { api: "ApiVersions", correlationId: 2 }]);
  });

  test("loses a request, or the answer to one, and no other", async () => {
    const dropped = proxy.drop("ApiVersions");
    ask(1);
    expect(await dropped).toEqual({ api: "ApiVersions", correlationId: 1 });
    const swallowed = proxy.swallow("ApiVersions");
    ask(2);
    expect((await swallowed).correlationId).toBe(2);
    ask(3);
    await until(() => answered.length > 0, { what: "the answer to the third" });
    expect([answered, closed]).toEqual([[3], false]);
  });

  test("keeps an answer back until it is let go", async () => {
    const held = proxy.holdAnswers("ApiVersions");
    ask(1);
    await held;
    ask(2);
    await until(() => answered.length === 1, { what: "the answer to the second" });
    expect(answered).toEqual([2]);
    proxy.releaseAnswers();
    await until(() => answered.length === 2, { what: "the answer that was kept back" });
    expect(answered).toEqual([2, 1]);
  });

  test("breaks the connection in the place of an answer, takes a new one, and refuses where it is told to", async () => {
    const cut = proxy.cutAfter("ApiVersions");
    ask(1);
    await cut;
    await until(() => closed, { what: "the broken connection" });
    expect(answered).toEqual([]);
    await dial();
    ask(2);
    await until(() => answered.length === 1, { what: "an answer on the new connection" });
    proxy.refuse();
    await until(() => closed && proxy.connections === 0, { what: "the end of all connections" });
    proxy.accept();
    await dial();
    proxy.hold();
    ask(3);
    await until(() => proxy.connections === 1, { what: "the connection" });
    expect(proxy.seen.some(({ correlationId }) => correlationId === 3)).toBe(false);
    proxy.release();
    await until(() => answered.length === 1, { what: "the answer after the hold" });
  });
});
