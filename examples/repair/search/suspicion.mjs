import { relative, sep } from "node:path";

/**
 * @typedef {import("../suite/run-suite.mjs").Spectrum} Spectrum
 * @typedef {{ file: string, at: (offset: number) => number }} Suspect a source file and how suspicious each place of it is, 0 to 1
 */

/**
 * Spectrum-based fault localisation: a place is the more suspicious the more of the tests that execute it fail
 * (Ochiai: failing / sqrt(all failing * executing)). Here one failing test is looked at, so that places which other
 * faults break do not blur the picture: the tests that fail for other reasons are left out.
 * @param {{ folder: string, spectra: Spectrum[], target: string, passing: Set<string> }} run `target` and `passing` by the innermost test name
 * @returns {Suspect[]} the files that the failing test executes, tests and installed packages left out
 */
export function suspects({ folder, spectra, target, passing }) {
  const failing = spectra.filter(({ name }) => name === target);
  const good = spectra.filter(({ name }) => name !== target && passing.has(name));
  const files = new Set(failing.flatMap(({ files }) => files.map(({ file }) => file)));
  return [...files]
    .map((file) => ({ file: relative(folder, file).split(sep).join("/"), at: score(file, failing, good) }))
    .filter(({ file }) => isSource(file))
    .sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** The code under repair: what proves it right is never edited. */
export function isSource(file) {
  if (file.startsWith("../") || file.includes("node_modules/")) return false;
  return !/(^|\/)(test|tests|__tests__)\//.test(file) && !/\.(test|spec)\.[cm]?js$/.test(file);
}

function score(file, failing, good) {
  return (offset) => {
    const failed = failing.filter((spectrum) => executes(spectrum, file, offset)).length;
    if (failed === 0) return 0;
    const passed = good.filter((spectrum) => executes(spectrum, file, offset)).length;
    return failed / Math.sqrt(failing.length * (failed + passed));
  };
}

/**
 * The innermost range around the offset decides. Code outside of all functions ran when the file was loaded, for every
 * test alike: it counts as executed by each test that uses the file.
 */
function executes(spectrum, file, offset) {
  const ranges = spectrum.files.filter((part) => part.file === file).flatMap((part) => part.ranges);
  const around = ranges.filter(([start, end]) => start <= offset && offset < end);
  if (around.length === 0) return ranges.some(([, , count]) => count > 0);
  return around.reduce((inner, range) => (range[1] - range[0] <= inner[1] - inner[0] ? range : inner))[2] > 0;
}
