import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newProvider, template, templateFiles } from "./new-provider.mjs";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
const run = promisify(execFile);
let root;
// The report of the run that this test is part of is not the report of the run inside it.
const { LOOPWRIGHT_TEST_REPORT: _, ...outer } = process.env;
const env = { ...outer, NO_COLOR: "1" };

/** Runs a tool of the workspace in the made one; its output is part of what a failure says. */
async function tool(name, ...args) {
  const { code = 0, stdout, stderr } = await run(join(home, "node_modules/.bin", name), args, { cwd: root, env }).catch((error) => error);
  return { code, output: stdout + stderr };
}

/** A workspace with nothing in it but what the package needs. */
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "loopwright-provider-"));
  const folder = join(root, "packages/providers-zenith");
  newProvider("zenith", folder);
  mkdirSync(join(root, "scripts"));
  for (const file of [
    "tsconfig.base.json",
    "vitest.config.ts",
    ...["long-suites.ts", "test-folder.ts", "check-leftovers.ts", "leftovers.ts"].map((name) => `scripts/${name}`),
  ])
    copyFileSync(join(home, file), join(root, file));
  symlinkSync(join(home, "node_modules"), join(root, "node_modules"));
  mkdirSync(join(folder, "node_modules/@loopwright"), { recursive: true });
  for (const name of ["core", "provider-kit", "testing"])
    symlinkSync(join(home, "packages", name), join(folder, "node_modules/@loopwright", name));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("a provider made from the template", () => {
  it("typechecks, and so does what its README shows", async () => {
    const folder = join(root, "packages/providers-zenith");
    const [, shown] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(folder, "README.md"), "utf8")) ?? [];
    expect(shown).toContain("zenith(");
    writeFileSync(join(folder, "test/readme.ts"), `${shown}agent satisfies object;\nexport {};\n`);
    expect(await tool("tsc", "-p", "packages/providers-zenith/tsconfig.json")).toEqual({ code: 0, output: "" });
  });

  it("keeps every promise of the provider kit", async () => {
    const file = join(root, "report.json");
    const { code, output } = await tool("vitest", "run", "--root", root, "--reporter", "json", "--outputFile", file);
    expect(existsSync(file), output).toBe(true);
    const report = JSON.parse(readFileSync(file, "utf8"));
    const failed = report.testResults.flatMap(({ message, assertionResults }) => [
      ...(message ? [message] : []),
      ...assertionResults.filter(({ status }) => status === "failed").map(({ title, failureMessages }) => `${title}: ${failureMessages}`),
    ]);
    expect({ code, failed }).toEqual({ code: 0, failed: [] });
    const skipped = report.testResults.flatMap(({ assertionResults }) => assertionResults.filter(({ status }) => status === "skipped"));
    const reasons = ["Zenith sends none", "all of Zenith's models reason"].map((reason) => expect.stringContaining(`(skipped: ${reason})`));
    expect(skipped.map(({ title }) => title)).toEqual(reasons);
    expect(report.numPassedTests).toBeGreaterThan(70);
  });

  it("has the vendor's name everywhere and no other", () => {
    const files = newProvider("nova", join(root, "nova"));
    expect(files).toHaveLength(templateFiles().length);
    for (const file of files) {
      expect(file).not.toMatch(/acme/i);
      expect(readFileSync(file, "utf8")).not.toMatch(/acme/i);
    }
  });

  it("is never written over what is there, nor under a name that is none", () => {
    expect(() => newProvider("zenith", join(root, "packages"))).toThrow("exists already");
    expect(() => newProvider("../up", join(root, "up"))).toThrow("no name for a vendor");
  });
});

describe("docs/write-a-provider.md", () => {
  const page = readFileSync(join(home, "docs/write-a-provider.md"), "utf8");
  const blocks = [...page.matchAll(/<!-- from templates\/provider\/(\S+) -->\n```ts\n([\s\S]*?)```/g)];

  it("shows the template's own code", () => {
    expect(blocks.length).toBeGreaterThan(4);
    for (const [, file, code] of blocks) expect(readFileSync(join(template, file), "utf8"), file).toContain(code);
  });

  it("shows no other TypeScript", () => {
    expect(page.match(/```ts\n/g)).toHaveLength(blocks.length);
  });
});
