import { describe, expect, it } from "vitest";
import type { OwnerId, SessionId } from "../core/brand.ts";
import { goal } from "../core/events/goal.ts";
import { handlersNamed } from "../core/session/handlers-named.ts";
import { randomOf } from "../testing/random.ts";
import { type Peer, memberOf, needsOf, peerOf, rankOf } from "./affinity.ts";

const owners = (count: number): Peer[] => Array.from({ length: count }, (_, index) => ({ id: `owner-${index}` as OwnerId, can: null }));
const sessions = Array.from({ length: 4_000 }, (_, index) => `s-${index}` as SessionId);
const rank = (self: Peer, all: readonly Peer[], sessionId: SessionId): number => rankOf(self, all, { sessionId, needs: [] });
const firstOf = (all: readonly Peer[], session: SessionId): OwnerId | undefined => all.find((one) => rank(one, all, session) === 0)?.id;

it("gives each session one order, in which everybody has another place", () => {
  const all = owners(5);
  for (const session of sessions.slice(0, 200)) expect(all.map((one) => rank(one, all, session)).sort()).toEqual([0, 1, 2, 3, 4]);
});

it("gives everybody about the same share", () => {
  const all = owners(4);
  const counts = Map.groupBy(sessions, (session) => firstOf(all, session));
  for (const one of all) expect(Math.abs((counts.get(one.id)?.length ?? 0) / sessions.length - 0.25), one.id).toBeLessThan(0.04);
});

it("moves to who joins only what that one gets, and to nobody else", () => {
  const [before, after] = [owners(3), owners(4)];
  const moved = sessions.filter((session) => firstOf(before, session) !== firstOf(after, session));
  expect(new Set(moved.map((session) => firstOf(after, session)))).toEqual(new Set(["owner-3"]));
  expect(Math.abs(moved.length / sessions.length - 0.25)).toBeLessThan(0.04);
});

it("is everybody's turn who has heard of nobody, and who has not heard of itself counts all the same", () => {
  const [one, two] = owners(2) as [Peer, Peer];
  for (const session of sessions.slice(0, 50)) {
    expect(rank(one, [], session)).toBe(0);
    expect(rank(one, [one], session)).toBe(0);
    expect(rank(one, [two], session)).toBe(rank(one, [one, two], session));
  }
});

describe("of processes with different handlers", () => {
  /** Any number of processes, each with any of six handlers. */
  const fleets = Array.from({ length: 300 }, (_, seed) => {
    const random = randomOf(seed);
    const marks = ["a", "b", "c", "d", "e", "f"];
    const some = (chance: number): string[] => marks.filter(() => random.chance(chance));
    const all = owners(1 + random.below(8)).map(({ id }): Peer => ({ id, can: random.chance(0.2) ? null : new Set(some(0.7)) }));
    return { all, turn: { sessionId: `s-${seed}` as SessionId, needs: some(0.3) } };
  });
  const isAble = ({ can }: Peer, needs: readonly string[]): boolean => can === null || needs.every((mark) => can.has(mark));

  it("who can run a session has the place that it would have among those alone", () => {
    for (const { all, turn } of fleets) {
      const able = all.filter((one) => isAble(one, turn.needs));
      for (const one of able) expect(rankOf(one, all, turn)).toBe(rankOf(one, able, turn));
    }
  });
  it("who cannot comes after all that can, and everybody has a place of its own", () => {
    for (const { all, turn } of fleets) {
      const places = all.map((one) => rankOf(one, all, turn));
      expect(places.toSorted((a, b) => a - b)).toEqual(all.map((_, place) => place));
      const last = Math.max(-1, ...all.flatMap((one, index) => (isAble(one, turn.needs) ? (places[index] as number) : [])));
      for (const [index, one] of all.entries()) if (!isAble(one, turn.needs)) expect(places[index]).toBeGreaterThan(last);
    }
  });
});

describe("the name under which a process is gathered", () => {
  const asked = goal.parse({ goal: "g", maker: { code: "m", text: "writer" }, check: "c", leaves: [{ id: "1", title: "t", leaves: [{ id: "2", title: "u", check: "inner check" }] }], policy: { approvals: [{ before: "deploy" }, { costUsd: 1 }, { before: "deploy", expiresSeconds: 9 }], gates: ["safe"] } });
  const needs = needsOf({ submission: { goal: asked } as never });
  const hears = (makers: string[], checks: string[]): Peer => peerOf(memberOf("o" as OwnerId, { makers, checks, tools: ["deploy"], gates: ["safe"] }));
  const ranks = (peer: Peer): number => rankOf(peer, [{ id: "able" as OwnerId, can: new Set(needs) }], { sessionId: "s" as SessionId, needs });

  it("says which sessions it can run: those of which it has every maker, every check and every guard", () => {
    expect(handlersNamed(asked)).toEqual({ makers: ["m", "writer"], checks: ["c", "inner check"], tools: ["deploy"], gates: ["safe"] });
    const whole = hears(["writer", "m", "more"], ["inner check", "c"]);
    expect([whole.id, needs.length, needs.filter((mark) => whole.can?.has(mark)).length]).toEqual(["o", 6, 6]);
    for (const peer of [hears(["m", "writer"], ["c"]), hears(["m"], ["c", "inner check"]), hears(["m", "writer", "c", "inner check"], []), hears([], [])]) expect(ranks(peer)).toBe(1);
  });
  it("is its id alone where it can run everything, as an earlier release says it", () => {
    expect(memberOf("o" as OwnerId, null)).toBe("o");
    expect(peerOf("o")).toEqual({ id: "o", can: null });
  });
  it("is the same for the same handlers in any order, and short", () => {
    const many = Array.from({ length: 50 }, (_, index) => `a handler with a longer name, number ${index}`);
    expect(memberOf("o" as OwnerId, { tools: [], gates: [], makers: many, checks: ["c"] })).toBe(memberOf("o" as OwnerId, { tools: [], gates: [], makers: many.toReversed(), checks: ["c"] }));
    expect(memberOf("o" as OwnerId, { tools: [], gates: [], makers: many, checks: ["c"] }).length).toBeLessThan(51 * 8 + 2);
  });
  it("needs nothing of a session whose goal is not known", () => {
    expect(needsOf({ submission: null })).toEqual([]);
  });
});
