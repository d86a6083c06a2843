// What the pages show is run: every block marked `ts run` compiles and prints what its comments say, the README shows the quick start as it is,
// and links lead somewhere.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path) => readFileSync(join(root, path), "utf8");
const run = promisify(execFile);
/** `npm test` has just built everything: programs start faster from the builds, and users have nothing else. */
const sources = process.env.LOOPWRIGHT_BUILT === "1" ? [] : ["--conditions=@loopwright/source"];

const pages = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "AGENTS.md",
  ...["packages", "apps"].flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}/README.md`)),
  "examples/http/README.md",
  ...["docs", "docs/decisions"].flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)),
].filter((path) => path.endsWith(".md") && existsSync(join(root, path)));

const blocks = pages.flatMap((page) =>
  [...read(page).matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map(([, code], i) => ({ title: `${page}, block ${i + 1}`, code })),
);

/** What the comments behind `console.log(...)` say, in order. */
const expected = (code) => [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);

describe("code on a page", () => {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-docs-"));
  symlinkSync(join(root, "examples/node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const config = {
    extends: join(root, "tsconfig.base.json"),
    include: ["*.ts"],
    compilerOptions: { isolatedDeclarations: false, declaration: false },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  for (const [i, { code }] of blocks.entries()) writeFileSync(join(folder, `block${i}.ts`), code);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("compiles", async () => {
    await run(join(root, "node_modules/.bin/tsc"), ["-p", folder, "--noEmit", "--typeRoots", join(root, "node_modules/@types")]).catch(
      ({ stdout }) => expect.fail(stdout),
    );
  });

  test.each(blocks.map(({ title, code }, i) => ({ title, code, i })))("$title prints what it shows", async ({ code, i }) => {
    expect(expected(code).length).toBeGreaterThan(0);
    const { stdout } = await run(process.execPath, [...sources, "--no-warnings", join(folder, `block${i}.ts`)]);
    expect(stdout.trimEnd().split("\n")).toEqual(expected(code));
  });
});

test("the README shows the quick start as it is", () => {
  const [, shown] = /<!-- from examples\/quickstart\.ts -->\n```ts\n([\s\S]*?)```/.exec(read("README.md")) ?? [];
  expect(shown).toBe(read("examples/quickstart.ts"));
});

/** Written by the benchmark, on a quiet machine. */
const measured = "docs/performance.md";

test("links between pages lead somewhere", () => {
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].flatMap(([, target]) =>
      existsSync(join(root, dirname(page), target)) || join(dirname(page), target) === measured ? [] : [`${page}: ${target}`],
    ),
  );
  expect(broken).toEqual([]);
});
