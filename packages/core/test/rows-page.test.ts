import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/** The rows of the recovery table; one that has no test yet comes with what it is about. */
const rowCount = 33;
const home = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string): string => readFileSync(join(home, path), "utf8");

/** The numbers of the rows that tests of this source are named after: `row 7: ...`, `rows 8, 13 and 19: ...`. */
function rowsNamedIn(source: string): readonly number[] {
  const titles = source.matchAll(/(?:\b(?:it|test|describe)|\))\(\s*["'`]rows? ([\d, and]+?): /g);
  const numbers = [...titles].flatMap(([, list = ""]) => (list.match(/\d+/g) ?? []).map(Number));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** Test files of each row. */
function testsOfRows(): ReadonlyMap<number, readonly string[]> {
  const files = globSync("{packages,apps}/*/{src,test}/**/*.test.ts", { cwd: home, exclude: ["**/node_modules/**"] }).sort();
  const found = new Map<number, readonly string[]>();
  for (const file of files) for (const row of rowsNamedIn(read(file))) found.set(row, [...(found.get(row) ?? []), file]);
  return found;
}

interface RowOfPage {
  readonly row: number;
  readonly files: readonly string[];
  readonly isToCome: boolean;
}

const linksIn = (text: string): readonly string[] => [...text.matchAll(/\]\(\.\.\/([^)#]+)\)/g)].map(([, path = ""]) => path);

function rowsOfPage(page: string): readonly RowOfPage[] {
  return [...page.matchAll(/^\| (\d+) \|.*\| ([^|]+) \|$/gm)].map(([, row, tests = ""]) => ({
    row: Number(row),
    files: linksIn(tests),
    isToCome: tests.startsWith("not yet: "),
  }));
}

describe("docs/recovery.md", () => {
  const rows = rowsOfPage(read("docs/recovery.md"));
  const tests = testsOfRows();

  it("has every row of the table, in order", () => {
    expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: rowCount }, (_, place) => place + 1));
  });

  it("names, for each row, all files with a test that is named after it; a row without one is marked as to come", () => {
    const named = rows.map(({ row, files, isToCome }) => ({ row, isToCome, files: [...files].sort() }));
    expect(named).toEqual(rows.map(({ row }) => ({ row, isToCome: !tests.has(row), files: [...(tests.get(row) ?? [])].sort() })));
    expect(rows.filter(({ isToCome }) => isToCome).map(({ row }) => row)).toEqual([32]);
    expect([...tests.keys()].filter((row) => row < 1 || row > rowCount)).toEqual([]);
  });

  it("names no file whose tests are skipped", () => {
    const files = new Set(rows.flatMap((row) => row.files));
    expect([...files].filter((file) => /\b(?:it|test|describe)\.(?:skip|todo|only|fails)\b/.test(read(file)))).toEqual([]);
  });
});

describe("docs/promises.md", () => {
  const page = read("docs/promises.md");
  const table = [...page.matchAll(/^\| (P\d+) \|(.*)$/gm)].map(([, promise, rest = ""]) => ({ promise, links: linksIn(rest) }));

  it("names for each promise the tests or experiments that check it, and the promises that are not given yet", () => {
    const promises = Array.from({ length: 15 }, (_, place) => `P${place + 1}`);
    const later = promises.filter((promise) => !table.some((row) => row.promise === promise));
    expect(table.map(({ promise }) => promise)).toEqual(promises.filter((promise) => !later.includes(promise)));
    expect(later).toEqual([...(/^Not promised yet: (.*)$/m.exec(page)?.[1]?.matchAll(/P\d+/g) ?? [])].map(([promise]) => promise));
    expect(table.filter(({ links }) => links.length < 2)).toEqual([]);
  });

  it("names every experiment that a tier of the rig is made of", () => {
    const rig = "apps/chaos/src/tiers.ts";
    const imported = [...read(rig).matchAll(/from "(\.\/experiments\/[^"]+)"/g)].map(([, path = ""]) => join(dirname(rig), path));
    const experiments = imported.filter((path) => !path.endsWith("/experiment.ts"));
    expect(experiments.length).toBeGreaterThan(5);
    expect(experiments.filter((path) => !page.includes(path))).toEqual([]);
  });
});

describe("the titles of tests", () => {
  /** Not a title of this file. */
  const named = (source: string): readonly number[] => rowsNamedIn(source.replaceAll("ROW", "row"));

  it("are found as `it`, as a table of cases, with several rows, and over several lines; nothing else is", () => {
    expect(named('it("ROW 7: a", f)')).toEqual([7]);
    expect(named('it.each(faults)("ROW 29: (%s) b", f)')).toEqual([29]);
    expect(named('it.each([\n  ["x", 1],\n] as const)(\n  "ROW 20: c", f)')).toEqual([20]);
    expect(named('it("ROWs 8, 13 and 19: d", f); describe("ROW 26: e", f)')).toEqual([8, 13, 19, 26]);
    expect(named('// ROW 3: no\nconst a = "ROW 4: no"; say("ROW 5: no"); it("ROW 6 is no title", f)')).toEqual([]);
  });
});
