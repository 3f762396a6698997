/** The machine as the adapters see it: which processes live, and what its clocks say. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import { describe, expect, it } from "vitest";
import { makeFolder } from "./folder.ts";

describe("the host", () => {
  it("knows itself, and knows a process from another one that got its pid", () => {
    const host = createSystemHost();
    const self = host.self();
    expect(self.pid).toBe(process.pid);
    expect(host.look(self)).toBe("alive");
    expect(createSystemHost().self()).toEqual(self);
    expect(host.look({ ...self, startTime: `${Number(self.startTime) + 1}` })).toBe("dead");
    expect(host.look({ ...self, bootId: "another boot" })).toBe("elsewhere");
    expect(host.look({ ...self, pidNamespace: "pid:[1]" })).toBe("elsewhere");
  });

  it("sees that a killed process is dead, before and after its parent has taken note", async () => {
    const host = createSystemHost();
    const program = `import { createSystemHost } from "@loopledger/shared/system"; console.log(JSON.stringify(createSystemHost().self())); process.stdin.resume();`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", program], { cwd: join(import.meta.dirname, "../.."), stdio: ["pipe", "pipe", "inherit"] });
    const gone = once(child, "close");
    const [said] = await once(child.stdout, "data");
    const named = JSON.parse(String(said));
    expect([named.pid, host.look(named)]).toEqual([child.pid, "alive"]);
    child.kill("SIGKILL");
    await gone;
    expect(host.look(named)).toBe("dead");
  });

  it("counts a zombie as dead when its last thread is over, and reads names that hold brackets and blanks", () => {
    const folder = makeFolder();
    const show = (pid: number, state: string, threads = 1): void => {
      mkdirSync(join(folder.path, String(pid)), { recursive: true });
      const after = [...Array.from({ length: 16 }, (_, i) => i), threads, 0].join(" ");
      writeFileSync(join(folder.path, String(pid), "stat"), `${pid} (a) (b c) ${state} ${after} 4711 0 0\n`);
    };
    try {
      // A process table of its own, with the real machine's names around it.
      const real = createSystemHost().self();
      show(process.pid, "S");
      mkdirSync(join(folder.path, "sys/kernel/random"), { recursive: true });
      writeFileSync(join(folder.path, "sys/kernel/random/boot_id"), `${real.bootId}\n`);
      mkdirSync(join(folder.path, "self/ns"), { recursive: true });
      symlinkSync(real.pidNamespace, join(folder.path, "self/ns/pid"));
      const host = createSystemHost({ proc: folder.path });
      expect(host.self()).toEqual({ ...real, startTime: "4711" });
      const other = (pid: number) => ({ ...host.self(), pid });
      show(70_001, "R");
      show(70_002, "Z");
      // Killed, and one of its threads still finishes a call.
      show(70_004, "Z", 2);
      expect([70_001, 70_002, 70_003, 70_004].map((pid) => host.look(other(pid)))).toEqual(["alive", "dead", "dead", "alive"]);
    } finally {
      folder.remove();
    }
  });

  it("asks by signal where the machine has no process table", async () => {
    const host = createSystemHost({ proc: "/nonexistent" });
    const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
    const other = { ...host.self(), pid: child.pid as number };
    expect([host.look(host.self()), host.look(other)]).toEqual(["alive", "alive"]);
    child.kill("SIGKILL");
    await once(child, "close");
    expect(host.look(other)).toBe("dead");
  });
});

describe("the clock and the ids", () => {
  it("has one monotonic clock for all processes of the host", () => {
    const before = Number(process.hrtime.bigint()) / 1e6;
    const seen = createSystemClock().monotonic();
    const after = Number(process.hrtime.bigint()) / 1e6;
    // Half a millisecond allows for the rounding of its two parts.
    expect(seen).toBeGreaterThanOrEqual(before - 0.5);
    expect(seen).toBeLessThanOrEqual(after + 0.5);
  });

  it("keeps a timer that is longer than the machine's longest, and cancels one", async () => {
    const clock = createSystemClock();
    const fired: string[] = [];
    const cancelLong = clock.after(2 ** 31 + 1_000, () => fired.push("long"));
    const cancelled = clock.after(0, () => fired.push("cancelled"));
    cancelled();
    const alive = new Promise<void>((done) => clock.after(5, done));
    // The clock's timers let a process end, so something else has to keep this one.
    const keep = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
    await alive;
    keep.kill("SIGKILL");
    await once(keep, "close");
    cancelLong();
    expect(fired).toEqual([]);
  });

  it("makes ids that differ and digests that are SHA-256", () => {
    const ids = createSystemIds();
    expect(new Set(Array.from({ length: 100 }, () => ids.uuid())).size).toBe(100);
    expect(ids.sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const drawn = ids.random();
    expect(drawn >= 0 && drawn < 1).toBe(true);
  });
});
