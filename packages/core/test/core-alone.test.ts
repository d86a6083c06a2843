import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../../../", import.meta.url).pathname;
const read = (path: string): string => readFileSync(root + path, "utf8");

describe("A59: the core is small and stands alone", () => {
  it("has no dependency that is installed with it, and its source imports nothing but itself", () => {
    const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(read("packages/core/package.json")) as Record<
      string,
      unknown
    >;
    expect([dependencies, peerDependencies, optionalDependencies]).toEqual([undefined, undefined, undefined]);
    const files = globSync("packages/core/src/**/*.ts", { cwd: root }).filter((file) => !/\.test(-d)?\.ts$/.test(file));
    expect(files.length).toBeGreaterThan(100);
    const foreign = files.flatMap((file) =>
      [...read(file).matchAll(/^(?:import|export)\b[^;]*?\bfrom "([^"]+)";/gm)].flatMap(([, from = ""]) =>
        from.startsWith(".") ? [] : [`${file}: ${from}`],
      ),
    );
    expect(foreign).toEqual([]);
  });

  it("has a budget of its size and of each door, which a gate of every build checks", () => {
    const budgets = JSON.parse(read("scripts/gates/budgets.json")) as Record<
      string,
      { readonly dependencies: number; readonly doorGzipKb: object }
    >;
    const core = budgets["@loopwright/core"];
    expect(core).toMatchObject({ unpackedKb: expect.any(Number), dependencies: 0 });
    expect(Object.keys(core?.doorGzipKb ?? {})).toEqual(expect.arrayContaining([".", "./protocol", "./memory", "./stores"]));
    expect(read("scripts/gates/run.mjs")).toMatch(/^const gates = \[[^\]]*\bsizes\b/m);
    expect(read(".ci/run")).toContain("npm run --silent gates");
  });
});
