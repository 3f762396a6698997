/** The goal's tree as the audit reads it: children before parents, the goal itself last under the name `goal`. */
import type { Goal, Leaf } from "@loopledger/shared/core/events/goal";

export const rootId = "goal";
export type NodeStatus = "open" | "unverified" | "verified" | "needs-rework";
export interface Node {
  readonly id: string;
  readonly title: string;
  /** null: an inner node that is verified with its children. */
  readonly check: string | null;
  readonly after: readonly string[];
  readonly children: readonly string[];
  status: NodeStatus;
  task: string;
  seq: number;
}

export class Tree {
  readonly nodes: readonly Node[];
  readonly #byId: ReadonlyMap<string, Node>;
  readonly #goalCheck: string;

  constructor(goal: Goal | null) {
    this.#goalCheck = goal?.check ?? "";
    this.nodes = goal === null ? [] : nodesOf(goal);
    this.#byId = new Map(this.nodes.map((node) => [node.id, node]));
  }
  get isSingle(): boolean {
    return this.nodes.length === 1;
  }
  at(id: string): Node {
    const node = this.#byId.get(id);
    if (!node) throw new RangeError(`no leaf ${id}`);
    return node;
  }
  checkOf(id: string): string {
    return this.#byId.get(id)?.check ?? this.#goalCheck;
  }
  mark(id: string, status: NodeStatus, seq?: number): void {
    const node = this.at(id);
    node.status = status;
    if (seq !== undefined) node.seq = seq;
  }
  /** Inner nodes without a check of their own follow their children; the list has children first, so once is enough. */
  close(): void {
    for (const node of this.nodes) if (node.check === null && this.#all(node.children)) node.status = "verified";
  }
  /** The first node whose turn it is, in tree order; null where all is verified. */
  next(): Node | null {
    return this.nodes.find((node) => node.status !== "verified" && this.#all([...node.after, ...node.children])) ?? null;
  }
  #all(ids: readonly string[]): boolean {
    return ids.every((id) => this.#byId.get(id)?.status === "verified");
  }

  /** Whether every node can have its turn: no doubled id, no unknown and no circular dependency. */
  get isSound(): boolean {
    if (this.#byId.size !== this.nodes.length) return false;
    const done = new Set<string>();
    let left = [...this.nodes];
    for (;;) {
      const now = left.filter((node) => [...node.after, ...node.children].every((id) => done.has(id)));
      if (now.length === 0) return left.length === 0;
      for (const node of now) done.add(node.id);
      left = left.filter((node) => !done.has(node.id));
    }
  }
}

function nodesOf(goal: Goal): Node[] {
  const nodes: Node[] = [];
  const add = (leaf: Leaf, ownCheck: string | null): void => {
    const children = leaf.leaves ?? [];
    for (const child of children) add(child, child.check ?? ((child.leaves ?? []).length > 0 ? null : goal.check));
    nodes.push({
      id: leaf.id, title: leaf.title, check: ownCheck, after: leaf.after ?? [], children: children.map((child) => child.id),
      status: "open", task: leaf.title, seq: 0,
    });
  };
  add({ id: rootId, title: goal.goal, ...(goal.leaves && { leaves: goal.leaves }) }, goal.check);
  return nodes;
}
