/** Which ports the parts listen on. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { InfraError } from "./infra-error.ts";

/** `default`: those that everybody expects; `free`: whatever is free now; a number: that one and those after it. */
export type PortChoice = "default" | "free" | number;

const defaultPorts: Readonly<Record<string, number>> = {
  kafka: 9092, "kafka-controller": 9093, redis: 6379, registry: 8081,
};
const names = Object.keys(defaultPorts);

/** Whether nobody listens there on loopback. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer().once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });
}

/** Below what systems hand out to outgoing connections, which would take a port between the look and the start. */
const freeRange = { from: 15_000, to: 32_000 } as const;

/** So many different ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(freeRange.from, freeRange.to);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

/** The ports of the parts named (`kafka`, `kafka-controller`, …); a fixed one that is taken is refused. */
export async function choosePorts(wanted: readonly string[], choice: PortChoice): Promise<Record<string, number>> {
  if (choice === "free") {
    const ports = await freePorts(wanted.length);
    return Object.fromEntries(wanted.map((name, index) => [name, ports[index] ?? 0]));
  }
  const chosen = Object.fromEntries(wanted.map((name) => [name, choice === "default" ? defaultPorts[name] ?? 0 : choice + names.indexOf(name)]));
  for (const [name, port] of Object.entries(chosen)) {
    if (await isFree(port)) continue;
    throw portTaken(name, String(port));
  }
  return chosen;
}

export function portTaken(name: string, port: string): InfraError {
  return new InfraError("port_taken", `Port ${port}, which ${name} would listen on, is taken by another program.`, {
    next: "`loopledger infra up --ports free` takes free ones, `--port-base 20000` four from there on; or stop the other program.",
  });
}
