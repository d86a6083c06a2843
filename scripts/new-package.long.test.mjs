import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds, newPackage, templateFiles } from "./new-package.mjs";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
const run = promisify(execFile);
let root;
// The report of the run that this test is part of is not the report of the run inside it.
const { LOOPWRIGHT_TEST_REPORT: _, ...outer } = process.env;
const env = { ...outer, NO_COLOR: "1" };

/** The folder of each kind, the reasons of what its kit skips, and how many promises it keeps at least. */
const packages = {
  provider: { folder: "packages/providers-zenith", skips: ["Zenith sends none", "all of Zenith's models reason"], kept: 100 },
  store: {
    folder: "packages/store-zenith",
    skips: [
      "SQLite does not count the rows that it reads",
      "a file that was put back is taken as it is",
      "an answer cannot be lost within a process",
      "facts are not chained",
      "facts carry no checksums",
      "readers of another process poll",
      "the file has no limit of its own",
    ],
    kept: 230,
  },
  channel: { folder: "packages/channel-zenith", skips: [], kept: 30 },
};

/** Runs a tool of the workspace in the made one; its output is part of what a failure states. */
async function tool(name, ...args) {
  const { code = 0, stdout, stderr } = await run(join(home, "node_modules/.bin", name), args, { cwd: root, env }).catch((error) => error);
  return { code, output: stdout + stderr };
}

/** A workspace with nothing in it but what the packages need. */
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "loopwright-packages-"));
  mkdirSync(join(root, "scripts"));
  for (const file of [
    "tsconfig.base.json",
    "vitest.config.ts",
    ...["long-suites.ts", "test-folder.ts", "check-leftovers.ts", "leftovers.ts"].map((name) => `scripts/${name}`),
  ])
    copyFileSync(join(home, file), join(root, file));
  symlinkSync(join(home, "node_modules"), join(root, "node_modules"));
  for (const kind of kinds) {
    const folder = join(root, packages[kind].folder);
    newPackage(kind, "zenith", { folder, isStandalone: false });
    mkdirSync(join(folder, "node_modules/@loopwright"), { recursive: true });
    for (const name of ["core", "provider-kit", "testing"])
      symlinkSync(join(home, "packages", name), join(folder, "node_modules/@loopwright", name));
    symlinkSync(folder, join(folder, "node_modules/@loopwright", folder.split("/").at(-1)));
  }
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("a package made from a template", () => {
  it("typechecks, and the code in its README runs and prints what is written there", async () => {
    const readmes = kinds.map((kind) => {
      const folder = join(root, packages[kind].folder);
      const [, shown] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(folder, "README.md"), "utf8")) ?? [];
      expect(shown).toContain("zenith");
      const file = join(folder, "test/readme.ts");
      writeFileSync(file, `${shown}export {};\n`);
      return { file, printed: /console\.log\(.*\); \/\/ (.*)/.exec(shown)?.[1] };
    });
    const include = kinds.map((kind) => packages[kind].folder);
    writeFileSync(join(root, "tsconfig.json"), JSON.stringify({ extends: "./tsconfig.base.json", include }));
    expect(await tool("tsc", "-p", ".")).toEqual({ code: 0, output: "" });
    for (const { file, printed } of readmes) {
      const { stdout } = await run(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", file], { cwd: root });
      expect(stdout.trim()).toBe(printed);
      rmSync(file);
    }
  });

  it("keeps every promise of its kits", async () => {
    const file = join(root, "report.json");
    const { output } = await tool("vitest", "run", "--root", root, "--reporter", "json", "--outputFile", file);
    expect(existsSync(file), output).toBe(true);
    const { testResults } = JSON.parse(readFileSync(file, "utf8"));
    for (const [kind, { folder, skips, kept }] of Object.entries(packages)) {
      const files = testResults.filter(({ name }) => name.includes(`${folder}/`));
      const results = files.flatMap(({ assertionResults }) => assertionResults);
      const failed = results
        .filter(({ status }) => status === "failed")
        .map(({ title, failureMessages }) => `${title}: ${failureMessages}`);
      expect({ kind, failed: [...files.flatMap(({ message }) => message || []), ...failed] }).toEqual({ kind, failed: [] });
      const reasons = results.filter(({ status }) => status === "skipped").map(({ title }) => /\(skipped: (.*)\)/.exec(title)?.[1]);
      expect({ kind, skips: [...new Set(reasons)].sort() }).toEqual({ kind, skips });
      expect({ kind, passed: results.filter(({ status }) => status === "passed").length >= kept }).toEqual({ kind, passed: true });
    }
  });

  it.each(kinds)("that is a %s has its own name everywhere and no other, in this workspace and outside of it", (kind) => {
    for (const isStandalone of [false, true]) {
      const files = newPackage(kind, "nova", { folder: join(root, `nova-${kind}-${isStandalone}`), isStandalone });
      expect(files.length).toBeGreaterThanOrEqual(templateFiles(kind).length);
      for (const file of files) {
        expect(file).not.toMatch(/acme/i);
        expect(readFileSync(file, "utf8")).not.toMatch(/acme/i);
      }
    }
  });

  it.each(kinds)("that is a %s and stands alone names nothing of this workspace", (kind) => {
    const folder = join(root, `alone-${kind}`);
    for (const file of newPackage(kind, "nova", { folder })) {
      const text = readFileSync(file, "utf8");
      for (const own of ["workspace:", "catalog:", "@loopwright/source", "../../"]) expect(text, file).not.toContain(`"${own}`);
    }
    const { name, peerDependencies, devDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const { version } = JSON.parse(readFileSync(join(home, "packages/core/package.json"), "utf8"));
    expect(name).toBe(`loopwright-${kind}-nova`);
    expect(peerDependencies["@loopwright/core"]).toBe(`^${version}`);
    expect(Object.keys(devDependencies)).toEqual(expect.arrayContaining(["@loopwright/testing", "typescript", "vitest"]));
  });

  it.each(kinds)("that is a %s and joins this workspace has the scripts that its packages have", (kind) => {
    const scriptsOf = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).scripts;
    const { build, typecheck } = scriptsOf(join(home, "packages/store-sqlite"));
    expect(scriptsOf(join(root, packages[kind].folder))).toMatchObject({ build, typecheck });
  });

  it("is never written over what is there, nor as a kind or under a name that is none", () => {
    expect(() => newPackage("store", "zenith", { folder: join(root, "packages") })).toThrow("exists already");
    expect(() => newPackage("store", "../up", { folder: join(root, "up") })).toThrow("no name for a package");
    expect(() => newPackage("queue", "zenith", { folder: join(root, "up") })).toThrow("no kind of package");
  });
});

describe.each(kinds)("docs/write-a-%s.md", (kind) => {
  const page = readFileSync(join(home, `docs/write-a-${kind}.md`), "utf8");
  const blocks = [...page.matchAll(/<!-- from templates\/(\w+)\/(\S+) -->\n```ts\n([\s\S]*?)```/g)];

  it("shows the template's own code", () => {
    expect(blocks.length).toBeGreaterThan(2);
    for (const [, shown, file, code] of blocks) {
      expect(shown).toBe(kind);
      expect(readFileSync(join(home, "templates", kind, file), "utf8"), file).toContain(code);
    }
  });

  it("shows no other TypeScript, and names every file of the template", () => {
    expect(page.match(/```ts\n/g)).toHaveLength(blocks.length);
    const sources = templateFiles(kind).filter((file) => file.endsWith(".ts") && file !== "src/index.ts");
    expect(sources.filter((file) => !page.includes(`\`${file}\``))).toEqual([]);
  });

  it("shows commands that work: the first makes the package, the others name its folder", async () => {
    const commands = [...page.matchAll(/^node scripts\/new-package\.mjs (\w+) (\w+)( \S+)?/gm)];
    expect(commands.map(([, shown]) => shown)).toEqual([kind, kind]);
    const folder = join(root, `as-documented-${kind}`);
    const made = await run(process.execPath, [join(home, "scripts/new-package.mjs"), kind, commands[1][2], folder]);
    expect(made.stdout).toContain(`docs/write-a-${kind}.md`);
    expect(existsSync(join(folder, "package.json"))).toBe(true);
    const [own] = JSON.parse(readFileSync(join(home, `templates/${kind}/package.json`), "utf8"))
      .name.split("/")
      .slice(1);
    expect(page).toContain(`npx vitest run packages/${own}/`);
  });
});
