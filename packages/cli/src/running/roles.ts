/** The makers of the roles that were asked for. A role's code is loaded when it is wanted. */
import type { RoleName, Roles } from "@loopledger/composition/crew/roles";

export async function rolesOf(names: readonly RoleName[]): Promise<Roles> {
  const wanted = async <K extends RoleName, T>(name: K, load: () => Promise<T>): Promise<Partial<Record<K, T>>> =>
    (names.includes(name) ? ({ [name]: await load() } as Record<K, T>) : {});
  const loaded = await Promise.all([
    wanted("scheduler", async () => (await import("@loopledger/scheduler/scheduler")).makeScheduler),
    wanted("worker", async () => (await import("@loopledger/worker/worker")).buildRunner),
    wanted("checker", async () => (await import("@loopledger/checker/checker")).reviewRunner),
    wanted("projector", async () => (await import("@loopledger/projector/projector")).startProjector),
    wanted("intake", async () => (await import("@loopledger/intake/intake")).startIntake),
    // The heaviest, and nothing waits for it but its port: it is loaded while what is owed is carried already.
    wanted("gateway", async () => async (...given: Parameters<NonNullable<Roles["gateway"]>>) => (await import("@loopledger/gateway/gateway")).startGateway(...given)),
  ]);
  return Object.assign({}, ...loaded) as Roles;
}
