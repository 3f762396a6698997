/**
 * The goal's tree: flattened once, children before their parents, the goal itself last.
 * A goal without a tree is one leaf. Inner nodes without a check of their own are verified with their children.
 */
import type { Goal, Leaf } from "../events/goal.ts";
import { own } from "./persistent-map.ts";
import { type LeafNode, type LeafState, type SessionState, rootLeaf } from "./state.ts";

export function planOf(goal: Goal): readonly LeafNode[] {
  const nodes: LeafNode[] = [];
  const visit = (leaf: Leaf): void => {
    for (const child of leaf.leaves ?? []) visit(child);
    const inner = (leaf.leaves ?? []).length > 0;
    nodes.push({
      id: leaf.id, title: leaf.title, kind: leaf.kind ?? null, check: leaf.check ?? (inner ? null : goal.check),
      after: leaf.after ?? [], children: (leaf.leaves ?? []).map((child) => child.id),
    });
  };
  for (const leaf of goal.leaves ?? []) visit(leaf);
  nodes.push({ id: rootLeaf, title: goal.goal, kind: null, check: goal.check, after: [], children: (goal.leaves ?? []).map((leaf) => leaf.id) });
  return nodes;
}

/** What is wrong with a tree: doubled ids, unknown or circular dependencies. Empty = right. */
export function faultsOfPlan(goal: Goal): string[] {
  const plan = planOf(goal);
  const ids = new Set<string>();
  const faults: string[] = [];
  for (const node of plan) {
    if (ids.has(node.id)) faults.push(`leaf id ${node.id} is used twice${node.id === rootLeaf ? ` ("${rootLeaf}" is the goal itself)` : ""}`);
    ids.add(node.id);
  }
  for (const node of plan) for (const id of node.after) if (!ids.has(id)) faults.push(`leaf ${node.id} comes after ${id}, which is no leaf`);
  if (faults.length === 0 && !canFinish(plan)) faults.push("the leaves' `after` lists form a circle");
  return faults;
}

function canFinish(plan: readonly LeafNode[]): boolean {
  const over = new Set<string>();
  for (let moved = true; moved; ) {
    moved = false;
    for (const node of plan) {
      if (over.has(node.id) || ![...node.after, ...node.children].every((id) => over.has(id))) continue;
      over.add(node.id);
      moved = true;
    }
  }
  return over.size === plan.length;
}

export function freshLeaves(plan: readonly LeafNode[]): Record<string, LeafState> {
  return Object.fromEntries(plan.map((node) => [node.id, { status: "open", task: node.title, seq: 0 as LeafState["seq"], everBuilt: false }]));
}

export function nodeOf(state: SessionState, id: string): LeafNode | null {
  return state.submission?.plan.find((node) => node.id === id) ?? null;
}
export function leafOf(state: SessionState, id: string): LeafState {
  const leaf = own(state.leaves, id);
  if (!leaf) throw new RangeError(`no leaf ${id}`);
  return leaf;
}
export function withLeaf(state: SessionState, id: string, change: Partial<LeafState>): SessionState {
  return { ...state, leaves: leavesWith(state, id, change) };
}
/** For a rule that changes more than the leaf: a state is large, and each copy of it costs as much as the rest of a rule. */
export function leavesWith(state: SessionState, id: string, change: Partial<LeafState>): SessionState["leaves"] {
  return { ...state.leaves, [id]: { ...leafOf(state, id), ...change } };
}

/** The check that judges a node: its own, else the goal's. */
export function checkOf(state: SessionState, id: string): string {
  return nodeOf(state, id)?.check ?? state.submission?.goal.check ?? "";
}
/** The maker that builds a node: the goal's one, or the one for the node's kind (`default` where it has none). */
export function makerOf(state: SessionState, id: string): string | null {
  const maker = state.submission?.goal.maker;
  if (maker === undefined || typeof maker === "string") return maker ?? null;
  return own(maker, nodeOf(state, id)?.kind ?? "default") ?? own(maker, "default") ?? null;
}

/** The next node to act on, dependencies first, in tree order; null = all verified. */
export function nextNode(state: SessionState): LeafNode | null {
  const plan = state.submission?.plan ?? [];
  const verified = (id: string): boolean => own(state.leaves, id)?.status === "verified";
  return plan.find((node) => !verified(node.id) && node.after.every(verified) && node.children.every(verified)) ?? null;
}

/** Inner nodes without a check are verified as soon as their children are. */
export function closeInnerNodes(state: SessionState): SessionState {
  let next = state;
  for (const node of state.submission?.plan ?? []) {
    if (node.check !== null || leafOf(next, node.id).status === "verified") continue;
    if (node.children.every((id) => leafOf(next, id).status === "verified")) next = withLeaf(next, node.id, { status: "verified" });
  }
  return next;
}
