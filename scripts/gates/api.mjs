// The committed API reports are those of the code: a change of the public API is seen in review.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { apiReport, reportFile } from "./api-report.mjs";
import { filesBelow, published } from "./tree.mjs";

function firstDifference(committed, made) {
  const [before, after] = [committed.split("\n"), made.split("\n")];
  const line = after.findIndex((text, index) => text !== before[index]);
  const at = line === -1 ? after.length : line;
  return `line ${at + 1}: "${before[at] ?? "(end)"}" is now "${after[at] ?? "(end)"}"`;
}

async function check(root) {
  const reports = published(root).flatMap((workspace) => {
    const report = apiReport(root, workspace);
    return report === undefined ? [] : [{ file: reportFile(workspace), report }];
  });
  const stale = reports.flatMap(({ file, report }) => {
    if (!existsSync(join(root, file))) return [`${file}: is missing; run npm run api`];
    const committed = readFileSync(join(root, file), "utf8");
    return committed === report ? [] : [`${file}: ${firstDifference(committed, report)}; if that is meant, run npm run api`];
  });
  const known = new Set(reports.map(({ file }) => file));
  const left = filesBelow(root, "api").filter((file) => !known.has(file));
  return { problems: [...stale, ...left.map((file) => `${file}: belongs to no package`)], seen: `${reports.length} reports` };
}

const manifest = (name) => JSON.stringify({ name, exports: { ".": { types: "./dist/index.d.ts" } } });
const report = (name, code) =>
  `# API of ${name}\n\nMade by \`npm run api\` from the built declarations. Do not edit.\n\n## ${name}\n\n\`\`\`ts\n${code}\n\`\`\`\n`;

function library(name, declarations, committed) {
  return {
    [`packages/${name}/package.json`]: manifest(name),
    [`packages/${name}/dist/index.d.ts`]: declarations,
    ...(committed === undefined ? {} : { [`api/${name}.api.md`]: report(name, committed) }),
  };
}

export const apiReports = {
  name: "api",
  needsBuild: true,
  check,
  sound: {
    ...library(
      "fine",
      'export { b as a } from "./b.ts";\nexport interface Z {\n    readonly z: 1;\n}\n',
      "interface Z {\n    readonly z: 1;\n}\n\n// exported as a\nconst b: number;",
    ),
    "packages/fine/dist/b.d.ts": "/** Words do not count. */\nexport declare const b: number;\n",
  },
  planted: [
    {
      title: "a signature that changed",
      files: library("changed", "export declare function run(a: string): void;\n", "function run(a: number): void;"),
      expects: /changed\.api\.md: line 8: "function run\(a: number\): void;" is now "function run\(a: string\): void;"/,
    },
    {
      title: "a name that was added",
      files: library("added", "export declare const a: 1;\nexport declare const b: 2;\n", "const a: 1;"),
      expects: /added\.api\.md: line 9/,
    },
    {
      title: "a package without a report",
      files: library("silent", "export declare const a: 1;\n"),
      expects: /silent\.api\.md: is missing/,
    },
    { title: "a report without a package", files: { "api/gone.api.md": "" }, expects: /gone\.api\.md: belongs to no package/ },
  ],
};
