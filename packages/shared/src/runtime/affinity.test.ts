import { expect, it } from "vitest";
import type { OwnerId, SessionId } from "../core/brand.ts";
import { rankOf } from "./affinity.ts";

const owners = (count: number): OwnerId[] => Array.from({ length: count }, (_, index) => `owner-${index}` as OwnerId);
const sessions = Array.from({ length: 4_000 }, (_, index) => `s-${index}` as SessionId);
const firstOf = (all: readonly OwnerId[], session: SessionId): OwnerId | undefined => all.find((one) => rankOf(one, all, session) === 0);

it("gives each session one order, in which everybody has another place", () => {
  const all = owners(5);
  for (const session of sessions.slice(0, 200)) expect(all.map((one) => rankOf(one, all, session)).sort()).toEqual([0, 1, 2, 3, 4]);
});

it("gives everybody about the same share", () => {
  const all = owners(4);
  const counts = Map.groupBy(sessions, (session) => firstOf(all, session));
  for (const one of all) expect(Math.abs((counts.get(one)?.length ?? 0) / sessions.length - 0.25), one).toBeLessThan(0.04);
});

it("moves to who joins only what that one gets, and to nobody else", () => {
  const [before, after] = [owners(3), owners(4)];
  const moved = sessions.filter((session) => firstOf(before, session) !== firstOf(after, session));
  expect(new Set(moved.map((session) => firstOf(after, session)))).toEqual(new Set(["owner-3"]));
  expect(Math.abs(moved.length / sessions.length - 0.25)).toBeLessThan(0.04);
});

it("is everybody's turn who has heard of nobody, and who has not heard of itself counts all the same", () => {
  const [one, two] = owners(2) as [OwnerId, OwnerId];
  for (const session of sessions.slice(0, 50)) {
    expect(rankOf(one, [], session)).toBe(0);
    expect(rankOf(one, [one], session)).toBe(0);
    expect(rankOf(one, [two], session)).toBe(rankOf(one, [one, two], session));
  }
});
