import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

/** `npm test` has just built everything: a program starts faster from the builds of the packages it imports. */
const sources: readonly string[] = process.env["LOOPWRIGHT_BUILT"] === "1" ? [] : ["--conditions=@loopwright/source"];

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const page = readFileSync(fileOf("../../docs/decisions/0058-five-jobs-before-and-after.md"), "utf8");
const programs = readdirSync(fileOf(".")).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
const linesOf = (code: string): number => code.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("//")).length;

test("there is a program for each of the five jobs", () => {
  expect(programs).toHaveLength(5);
});

describe.each(programs)("the program of a job, %s,", (name) => {
  const code = readFileSync(fileOf(name), "utf8");

  test("prints the output in its comment", async () => {
    const [, expected] = /console\.log\(.*\); \/\/ (.*)$/m.exec(code) ?? [];
    const { stdout } = await promisify(execFile)(process.execPath, [...sources, "--no-warnings", fileOf(name)]);
    expect(stdout.trimEnd()).toBe(expected);
  });

  test("stands on the page as it is, with its number of lines and that of the code before it", () => {
    const [, title, before] =
      new RegExp(`## (.*)\\n[\\s\\S]*?Before:\\n\\n\`\`\`ts\\n([\\s\\S]*?)\`\`\`\\n\\nAfter \\(.examples/jobs/${name}`).exec(
        page.slice(page.lastIndexOf("\n## ", page.indexOf(`examples/jobs/${name}`))),
      ) ?? [];
    expect(page).toContain(`\`\`\`ts\n${code}\`\`\``);
    expect(page).toContain(`| ${title} | ${linesOf(before ?? "")} | ${linesOf(code)} |`);
  });
});
