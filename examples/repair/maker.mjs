/**
 * The maker: repairs one failing test a run, by search and not by heart. It localises the fault by coverage, tries small
 * edits in copies of the repository, and keeps the first that makes the test pass and breaks no other. When no test fails
 * any more it opens the pull request.
 *
 *   node maker.mjs --place PLACE     in the workspace, started by loopledger: stdin is the dispatch, see PLACE in prepare.mjs
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { changes, nameOf } from "./changes.mjs";
import { startForge } from "./forge/start.mjs";
import { apply } from "./search/candidates.mjs";
import { search } from "./search/search.mjs";
import { callTool } from "./step-client.mjs";
import { runSuite, testId } from "./suite/run-suite.mjs";

const TRANSIENT = 75;
const SEARCH_MS = 60_000;
const TRIES_MAX = 400;

const { values } = parseArgs({ options: { place: { type: "string" } } });
const place = values.place ?? "";
const workspace = process.cwd();
const dispatch = JSON.parse(readFileSync(0, "utf8"));

async function build() {
  const before = await suite();
  const target = named(before, dispatch.task);
  const nothing = { done: ["the test of this task passes already"], tests: before };
  const { done, tests } = target === undefined || target.passed ? nothing : await repair(target, before);
  if (tests.every(({ passed, skipped }) => passed || skipped)) done.push(await openPullRequest());
  report({ summary: done.join("; "), usage: { costUsd: 0, tokensIn: 0, tokensOut: 0, model: "search" } });
  return 0;
}

async function suite() {
  const run = await runSuite(workspace);
  if (!run.ran) throw new Transient(`the tests could not be run: ${run.why}`);
  return run.tests;
}

/** The test that the task speaks of; a task that names none means the first that fails. */
function named(tests, task) {
  const spoken = tests.filter((test) => task.includes(testId(test)));
  const longest = spoken.sort((a, b) => testId(b).length - testId(a).length)[0];
  return longest ?? tests.find(({ passed, skipped }) => !passed && !skipped);
}

async function repair(target, tests) {
  say(`target  ${testId(target)}`);
  const deadline = performance.now() + SEARCH_MS;
  const found = await search({ folder: workspace, scratch: join(place, "scratch"), target, tests, triesMax: TRIES_MAX, deadline });
  say(`search  ${found.ranked} edits in ${found.files.join(", ")}; ${found.tried} tried`);
  if (found.candidate === null) throw new Error(`no single edit of ${found.files.join(", ")} makes this test pass: ${testId(target)}`);
  const { file, line, before, after } = keep(found.candidate);
  const summary = `${file}:${line} ${found.candidate.kind}: ${before} -> ${after}`;
  return { done: [summary], tests: found.tests };
}

/** The workspace goes from the old file to the new one in one step; the half-written one lies outside of it. */
function keep(candidate) {
  const path = join(workspace, candidate.file);
  const source = readFileSync(path, "utf8");
  const repaired = apply(source, candidate);
  const part = join(place, `.part-${process.pid}-repaired`);
  writeFileSync(part, repaired);
  renameSync(part, path);
  const line = source.slice(0, candidate.start).split("\n").length;
  const lineOf = (text) => text.split("\n")[line - 1]?.trim().replace(/;$/, "");
  return { file: candidate.file, line, before: lineOf(source), after: lineOf(repaired) };
}

/** The same changes give the same words and the same key, whoever asks and however often. */
async function openPullRequest() {
  await startForge(join(place, "forge"));
  const list = changes(join(place, "base"), workspace);
  const name = nameOf(list);
  const title = `Repair ${list.map(({ file }) => file).join(", ")}`;
  const args = { repository: "invoices", branch: `repair/${name}`, title, changes: list };
  const { outcome, result } = await callTool("open_pull_request", args, `pull-request:invoices:${name}`);
  if (outcome !== "confirmed") throw new Error(`the forge refused the pull request: ${JSON.stringify(result)}`);
  return `opened pull request #${result.number}`;
}

/** Trying again may help. */
class Transient extends Error {}

/** Where no edit helps, or the engine says no, the same run would fail again: nothing to try again soon. */
function failed(error) {
  const passing = error instanceof Transient;
  process.stderr.write(`${error.message}\n`);
  report({ summary: error.message, error: error.message, failure: passing ? "transient" : "deterministic" });
  return passing ? TRANSIENT : 1;
}

function report(result) {
  const file = process.env.LOOPLEDGER_RESULT;
  if (file === undefined) return;
  writeFileSync(`${file}.part`, JSON.stringify(result));
  renameSync(`${file}.part`, file);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await build().catch(failed);
