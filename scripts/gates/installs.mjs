// Selective installs: each set of packages a user may ask for installs alone, runs on three Node.js versions, and stays small.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installFolders } from "./install-folders.mjs";
import { home, readJson } from "./tree.mjs";

export const SIZES_PAGE = "docs/install-sizes.md";
const BUDGETS = "scripts/gates/install-budgets.json";

function overBudget({ title, packageCount, megabytes, ownMegabytes }, budget) {
  if (!budget) return [`${title}: has no budget in ${BUDGETS}`];
  return [
    ...(budget.why ? [] : [`its budget in ${BUDGETS} says no \`why\``]),
    ...(packageCount > budget.packages ? [`${packageCount} packages, at most ${budget.packages}`] : []),
    ...(megabytes > budget.megabytes ? [`${megabytes.toFixed(2)} MB, at most ${budget.megabytes}`] : []),
    ...(ownMegabytes > (budget.ownMegabytes ?? 1)
      ? [`${ownMegabytes.toFixed(2)} MB of Loopwright, at most ${budget.ownMegabytes ?? 1}`]
      : []),
  ].map((problem) => `${title}: ${problem}`);
}

async function check(root) {
  const budgets = readJson(existsSync(join(root, BUDGETS)) ? join(root, BUDGETS) : join(home, BUDGETS));
  const page = existsSync(join(root, SIZES_PAGE)) ? readFileSync(join(root, SIZES_PAGE), "utf8") : "";
  const folders = installFolders(root);
  const problems = folders.flatMap((folder) => [
    ...folder.problems.map((problem) => `${folder.title}: ${problem}`),
    ...overBudget(folder, budgets[folder.title]),
    ...(page.includes(`| ${folder.title} |`) ? [] : [`${SIZES_PAGE}: no row for ${folder.title}; run npm run install-sizes`]),
  ]);
  return { problems, seen: `${folders.length} folders` };
}

const library = (name, code, more = {}) => ({
  [`packages/${name}/package.json`]: JSON.stringify({
    name: `@loopwright/${name}`,
    version: "0.0.0",
    type: "module",
    exports: { ".": { default: "./index.js" } },
    ...more,
  }),
  [`packages/${name}/index.js`]: code,
});
const budget = { packages: 2, megabytes: 0.01, ownMegabytes: 0.01, why: "small" };
const rows = (...titles) => titles.map((title) => `| ${title} | 1 | 1 | 1 |\n`).join("");

export const installs = {
  name: "installs",
  needsBuild: true,
  packs: true,
  check,
  sound: {
    ...library("core", "export const a = 1;\n"),
    [SIZES_PAGE]: rows(
      "@loopwright/core",
      "the README sample",
      ...["fat", "broken", "needy", "mute"].map((name) => `@loopwright/core + @loopwright/providers-${name}`),
    ),
    [BUDGETS]: JSON.stringify({
      "@loopwright/core": budget,
      "the README sample": budget,
      "@loopwright/core + @loopwright/providers-fat": budget,
      "@loopwright/core + @loopwright/providers-broken": budget,
      "@loopwright/core + @loopwright/providers-mute": { ...budget, why: undefined },
      "@loopwright/core + @loopwright/providers-needy": { ...budget, packages: 1 },
    }),
    "examples/quickstart.ts":
      'import { a } from "@loopwright/core";\n\nconst one: number = a;\nif (one !== 1) throw new Error("not one");\n',
  },
  planted: [
    {
      title: "a package that is too large",
      files: library("providers-fat", `// ${"x".repeat(20_000)}\n`),
      expects: /providers-fat: 0\.02 MB, at most 0\.01/,
    },
    {
      title: "a package that does not load on the oldest Node.js",
      files: library("providers-broken", 'if (process.version.startsWith("v22.")) throw new Error("too new");\n'),
      expects: /providers-broken: importing every door on Node\.js 22\.16\.0 ended with 1/,
    },
    {
      title: "a package too many",
      files: library("providers-needy", "export {};\n"),
      expects: /providers-needy: 2 packages, at most 1/,
    },
    {
      title: "a budget without a reason",
      files: library("providers-mute", "export {};\n"),
      expects: /providers-mute: its budget in .* says no `why`/,
    },
    {
      title: "a folder without a budget",
      files: library("store-sqlite", "export {};\n"),
      expects: /store-sqlite: has no budget/,
    },
    {
      title: "a folder that is not on the page",
      files: {},
      expects: /install-sizes\.md: no row for @loopwright\/core \+ @loopwright\/store-sqlite/,
    },
    {
      title: "a sample that fails",
      files: { "examples/quickstart.ts": 'import { a } from "@loopwright/core";\n\nthrow new Error(String(a));\n' },
      expects: /the README sample: the README sample on Node\.js 24\.21\.0 ended with 1/,
    },
  ],
};
