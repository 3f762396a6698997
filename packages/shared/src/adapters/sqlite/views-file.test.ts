import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openViewsFile } from "./views-file.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "loopledger-views-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("is opened by a second process while the first one is still making it, at which SQLite itself does not wait", () => {
  const maker = new DatabaseSync(join(folder, "views.db"));
  maker.exec("CREATE TABLE begun(x); BEGIN IMMEDIATE");
  let refused = 0;
  const { db } = openViewsFile(folder, "l", () => {
    if (++refused === 3) maker.exec("COMMIT");
  });
  expect(refused).toBe(3);
  expect(db.prepare("SELECT count(*) AS views FROM view").get()).toEqual({ views: 0 });
  db.close();
  maker.close();
});
