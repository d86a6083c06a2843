// What the pages show is run: every block marked `ts run` compiles and prints what its comments give, the README shows the quick start as it is,
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
const conditions = process.env.LOOPWRIGHT_BUILT === "1" ? [] : ["@loopwright/source"];

/** The long tests have built the declarations too, on which blocks are checked far sooner than on the sources; `npm test` builds code alone. */
const typeConditions = process.env.LOOPWRIGHT_DECLARED === "1" ? [] : ["@loopwright/source"];

const pages = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "AGENTS.md",
  ...["packages", "apps"].flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}/README.md`)),
  "examples/http/README.md",
  ...["docs", "docs/cookbook", "docs/decisions"].flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)),
].filter((path) => path.endsWith(".md") && existsSync(join(root, path)));

const blocks = pages.flatMap((page) =>
  [...read(page).matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map(([, code], i) => ({ page, title: `block ${i + 1}`, code })),
);
for (const [i, block] of blocks.entries()) block.file = `./block${i}.ts`;
const blocksByPage = Object.entries(Object.groupBy(blocks, ({ page }) => page)).map(([page, shown]) => ({ page, shown }));

/**
 * Runs the blocks of all pages one after another: a process for each page would load the same packages again. After each page it prints what the page
 * leaves behind that would keep a process from ending.
 */
const runner = `
// Its own output is open as long as it lives.
const open = () => process.getActiveResourcesInfo().filter((name) => name !== "PipeWrap" && name !== "TTYWrap");
async function leftOpen() {
  for (let turn = 0; turn < 100 && open().length > 0; turn++) await new Promise((resolve) => setTimeout(resolve, 25));
  return open().join(" ") || "nothing";
}
for (const files of JSON.parse(process.argv[2])) {
  for (const file of files) {
    console.log(">>> " + file);
    await import(file).catch((error) => console.log(error));
  }
  console.log(">>> left open after " + files[0]);
  console.log(await leftOpen());
}
`;

/** What the comments behind `console.log(...)` give, in order. */
const expected = (code) => [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);

describe("code on a page", () => {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-docs-"));
  symlinkSync(join(root, "examples/node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const config = {
    extends: join(root, "tsconfig.base.json"),
    include: ["*.ts"],
    compilerOptions: { isolatedDeclarations: false, declaration: false, customConditions: typeConditions },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  writeFileSync(join(folder, "run.mjs"), runner);
  for (const { file, code } of blocks) writeFileSync(join(folder, file), code);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("compiles", async () => {
    await run(join(root, "node_modules/.bin/tsc"), ["-p", folder, "--noEmit", "--typeRoots", join(root, "node_modules/@types")]).catch(
      ({ stdout }) => expect.fail(stdout),
    );
  });

  /** What the blocks have printed, by file. */
  let printed;
  const runBlocks = async () => {
    const flags = conditions.map((each) => `--conditions=${each}`);
    const files = blocksByPage.map(({ shown }) => shown.map(({ file }) => file));
    const { stdout } = await run(process.execPath, [...flags, "--no-warnings", "run.mjs", JSON.stringify(files)], { cwd: folder });
    const parts = stdout.split(/^>>> (.*)\n/m).slice(1);
    return new Map(parts.flatMap((name, i) => (i % 2 === 0 ? [[name, parts[i + 1].trimEnd()]] : [])));
  };

  test.each(blocksByPage)("the blocks of $page print what they show, and leave nothing open", async ({ shown }) => {
    for (const { code } of shown) expect(expected(code).length).toBeGreaterThan(0);
    printed ??= runBlocks();
    const byFile = await printed;
    const found = shown.map(({ title, file }) => ({ title, lines: byFile.get(file)?.split("\n") }));
    expect(found).toEqual(shown.map(({ title, code }) => ({ title, lines: expected(code) })));
    expect(byFile.get(`left open after ${shown[0].file}`)).toBe("nothing");
  });
});

const toolPages = pages.filter((page) => /^packages\/tools-(?!registry)/.test(page));

test.each(toolPages)("%s names arguments, replay class, limits and errors of its tools, and has an example that is run", (page) => {
  const text = read(page);
  const missing = ["| tool | arguments | gives | replay |", "imit", "rror", "```ts run"].filter((part) => !text.includes(part));
  expect(missing).toEqual([]);
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
