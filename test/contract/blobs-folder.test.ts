/** What the folder of blobs looks like from outside, and what happens to it when something goes wrong. */
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openFolderBlobs } from "@loopledger/shared/blobs";
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Blobs } from "@loopledger/shared/ports";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "./folder.ts";

const clock = createSystemClock();
const ids = createSystemIds();
const s = "s" as SessionId;
const content = Buffer.from("evidence");
let folder: ReturnType<typeof makeFolder>;

beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

const root = (): string => join(folder.path, "store");
const open = (): Blobs => openFolderBlobs({ folder: root(), clock, ids });
const files = (path: string): string[] => readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(path, name)).isFile()).sort();

describe("a folder of blobs", () => {
  it("keeps each session in one folder of its own, and never leaves the store", async () => {
    const blobs = open();
    const names = [".", "..", "../x", "/etc", "a/b", "...", "a:b", "%2E", ":".repeat(128), "ä", ""];
    for (const name of names) await blobs.put(name as SessionId, content);
    expect(readdirSync(folder.path)).toEqual(["store"]);
    const stored = files(root());
    expect(stored).toHaveLength(names.length);
    for (const path of stored) expect(path).toMatch(/^[^/.][^/]*\/[0-9a-f]{64}$/);
    expect(new Set(stored.map((path) => path.split("/")[0])).size).toBe(names.length);
  });

  it("leaves no draft of what is finished or given up", async () => {
    const blobs = open();
    const [kept, given] = [blobs.open(s, 100), blobs.open(s, 100)];
    await Promise.all([kept.write(content), given.write(Buffer.from("half"))]);
    expect(readdirSync(join(root(), ".drafts"))).toHaveLength(2);
    await kept.finish();
    await given.abort();
    expect(readdirSync(join(root(), ".drafts"))).toEqual([]);
    expect(files(join(root(), "s"))).toHaveLength(1);
  });

  it("sweeps drafts that were left a day ago, and no younger ones", () => {
    const drafts = join(root(), ".drafts");
    mkdirSync(drafts, { recursive: true });
    for (const name of ["old", "young"]) writeFileSync(join(drafts, name), "x");
    const seconds = clock.now() / 1_000;
    utimesSync(join(drafts, "old"), seconds - 90_000, seconds - 90_000);
    open();
    expect(readdirSync(drafts)).toEqual(["young"]);
  });

  it("counts damaged content as missing, and mends it when it is put again", async () => {
    const blobs = open();
    const digest = await blobs.put(s, content);
    writeFileSync(join(root(), files(root())[0] ?? ""), "tampered");
    expect(await blobs.get(s, digest)).toBeNull();
    await blobs.put(s, content);
    expect(Buffer.from((await blobs.get(s, digest)) ?? "").toString()).toBe("evidence");
  });

  it("says that it cannot be reached where its folder cannot be made", async () => {
    writeFileSync(root(), "a file stands here");
    const blobs = open();
    await expect(blobs.put(s, content)).rejects.toMatchObject({ code: "blobs_unreachable", then: "retry" });
    const writer = blobs.open(s, 100);
    await expect(writer.write(content)).rejects.toMatchObject({ code: "blobs_unreachable" });
    await expect(writer.finish()).rejects.toMatchObject({ code: "blobs_unreachable" });
  });
});
