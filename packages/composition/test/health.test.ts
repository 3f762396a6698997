import { type AddressInfo, Server, createServer } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { refuseTakenPort } from "@loopledger/composition/process/health";

const host = "127.0.0.1";
afterEach(() => {
  vi.restoreAllMocks();
});

test("a port is asked whether somebody has it, and nothing is opened there meanwhile", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, host, resolve));
  const { port } = other.address() as AddressInfo;
  const listening = vi.spyOn(Server.prototype, "listen");
  await expect(refuseTakenPort({ host, port })).rejects.toMatchObject({ code: "port_taken" });
  await new Promise((resolve) => other.close(resolve));
  await refuseTakenPort({ host, port });
  expect(listening).not.toHaveBeenCalled();
});
