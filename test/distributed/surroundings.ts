/** Surroundings in which a service looks like one on another machine: another host name, processes of its own, another user. */
import { spawnSync } from "node:child_process";

/** The words before the program, and what they change; where this user may change nothing, only the data folder is another one. */
export function anotherHost(): { readonly behind: readonly string[]; readonly told: string } {
  const ways: readonly { readonly behind: readonly string[]; readonly told: string }[] = [
    {
      behind: ["unshare", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", 'hostname elsewhere && exec setpriv --pdeathsig SIGKILL --reuid=65534 --regid=65534 --clear-groups "$@"', "elsewhere"],
      told: "another host name, pid namespace and uid",
    },
    { behind: ["unshare", "--map-root-user", "--uts", "--pid", "--fork", "--kill-child", "sh", "-c", 'hostname elsewhere && exec "$@"', "elsewhere"], told: "another host name and pid namespace; this user may not become another one" },
  ];
  const way = ways.find(({ behind: [program = "", ...words] }) => spawnSync(program, [...words, "true"]).status === 0);
  return way ?? { behind: [], told: "nothing but its data folder; this user may not make namespaces" };
}
