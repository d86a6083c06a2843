import { globSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { filesOf, randomSuites, roundsOf, slowSuites } from "./long-suites.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const testFiles = globSync("{packages,apps,bench,examples,scripts}/**/*.test.{ts,tsx,mjs}", {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist)$/.test(typeof path === "string" ? path : path.name),
});

const isIn = (mode, file) => {
  const { include, exclude } = filesOf(mode);
  return include.some((pattern) => matchesGlob(file, pattern)) && !exclude.some((pattern) => matchesGlob(file, pattern));
};

/** The rounds that a file plays by itself: `process.env["NAME"] ?? 40`. */
const defaultsIn = (file) =>
  [...readFileSync(join(root, file), "utf8").matchAll(/process\.env\["(LOOPWRIGHT_\w+)"\] \?\? ([\d_]+)/g)].map(([, name, count]) => ({
    name,
    count: Number(count.replaceAll("_", "")),
  }));

/** These give which round is played again, not how many. */
const replays = ["LOOPWRIGHT_SEED", "LOOPWRIGHT_STORM"];

describe("npm run long-tests", () => {
  it("with npm test and the browser tests runs every test file, and each long file is in it alone", () => {
    const longFiles = testFiles.filter((file) => /\.long\.test\.\w+$/.test(file));
    expect(longFiles.length).toBeGreaterThan(0);
    for (const file of testFiles) {
      const isBrowsed = file.startsWith("apps/web/test/") && file.endsWith(".browser.test.ts");
      const runs = [isIn("quick", file), isIn("long", file), isBrowsed];
      expect(runs, file).toEqual([
        !isBrowsed && !longFiles.includes(file) && !slowSuites.includes(file),
        longFiles.includes(file) || slowSuites.includes(file) || randomSuites.some((suite) => suite.file === file),
        isBrowsed,
      ]);
    }
    for (const file of [...slowSuites, ...randomSuites.map((suite) => suite.file)]) expect(testFiles).toContain(file);
  });

  it("leaves a slow file out of npm test unless the command names it", () => {
    const [slow] = slowSuites;
    expect(filesOf("quick").exclude).toContain(slow);
    expect(filesOf("quick", ["run", slow]).exclude).not.toContain(slow);
    expect(filesOf("quick", ["run", "packages/core/"]).exclude).toContain(slow);
    expect(filesOf("quick", ["run", "packages/a/test/b.long.test.ts"]).exclude).not.toContain("**/*.long.test.*");
    expect(filesOf("quick", ["run", "packages/a/test/b.test.ts"]).exclude).toContain("**/*.long.test.*");
  });

  it("plays more rounds of every random suite than npm test", () => {
    const wanted = new Map(randomSuites.map(({ file, rounds }) => [file, rounds]));
    for (const file of testFiles)
      for (const { name, count } of defaultsIn(file).filter((each) => !replays.includes(each.name))) {
        const rounds = Number(wanted.get(file)?.[name]);
        // Of crash points a smaller step means more rounds.
        expect(name === "LOOPWRIGHT_CRASH_POINTS" ? count / rounds : rounds / count, `${name} of ${file}`).toBeGreaterThan(2);
      }
    for (const { file, rounds } of randomSuites)
      for (const name of Object.keys(rounds).filter((each) => each !== "LOOPWRIGHT_FAULTS"))
        expect(defaultsIn(file), file).toContainEqual(expect.objectContaining({ name }));
  });

  it("gives each suite a variable of its own: one that two share would have the rounds of the last", () => {
    const names = randomSuites.flatMap(({ rounds }) => Object.keys(rounds)).filter((name) => name !== "LOOPWRIGHT_FAULTS");
    expect(names).toEqual([...new Set(names)]);
    const ofFaults = randomSuites.flatMap(({ rounds }) => rounds.LOOPWRIGHT_FAULTS ?? []);
    expect(new Set(ofFaults).size).toBe(1);
  });

  it("leaves the variables of the environment as they are", () => {
    expect(roundsOf("quick", {})).toEqual({ LOOPWRIGHT_FAULTS: "few" });
    expect(roundsOf("quick", { LOOPWRIGHT_FAULTS: "all" })).toEqual({});
    expect(roundsOf("long", { LOOPWRIGHT_SEEDS: "5" })).not.toHaveProperty("LOOPWRIGHT_SEEDS");
    expect(roundsOf("long", {})).toMatchObject({ LOOPWRIGHT_SEEDS: "240", LOOPWRIGHT_FAULTS: "borders" });
  });
});
