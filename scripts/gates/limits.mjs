// Sizes, shapes and names of source files (tests are not held to them).
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";
import { EXCEPTIONS, wideFolders } from "./folders.mjs";
import { readJson, sources } from "./tree.mjs";

const FILE_LINES_MAX = 300;
const FILE_LINES_WARN = 200;
const FUNCTION_LINES_MAX = 70;
const COMPONENT_LINES_MAX = 120;
const PARAMETERS_MAX = 3;
const COMPLEXITY_MAX = 20;
const PROVIDER_LINES_MAX = 1500;
const PROVIDER_LINES_MAX_OF = { "providers-openai": 2500 };

/** Functions that may have more branches, with the reason: `<file> <function>`. An entry that is not needed any more is a problem. */
const COMPLEXITY_EXCEPTIONS = "scripts/gates/complexity-exceptions.json";

const BUDGETS = "scripts/gates/budgets.json";

const VAGUE = new Set(["utils", "util", "helpers", "helper", "common", "misc", "types", "impl"]);
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*(\.(gen|example))?\.tsx?$/;

/** Numbers of the lines that hold code: not blank, not only a comment. */
function codeLines(source) {
  const lines = new Set();
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node) => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(source);
    if (children.length > 0) return children.forEach(visit);
    if (node.getEnd() > node.getStart(source))
      for (let line = lineOf(node.getStart(source)); line <= lineOf(node.getEnd()); line++) lines.add(line);
  };
  visit(source);
  return lines;
}

const isFunction = (node) => ts.isFunctionLike(node) && "body" in node && node.body !== undefined;
const hasModifier = (node, kind) => node.modifiers?.some((modifier) => modifier.kind === kind) ?? false;

const BRANCHES = new Set([
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForInStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
  ts.SyntaxKind.CaseClause,
  ts.SyntaxKind.CatchClause,
  ts.SyntaxKind.ConditionalExpression,
]);
const LOGICAL = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.AmpersandAmpersandEqualsToken,
  ts.SyntaxKind.BarBarEqualsToken,
  ts.SyntaxKind.QuestionQuestionEqualsToken,
]);

/** Cyclomatic complexity: one, and one for each branch, case and logical operator. Functions inside are counted by themselves. */
function complexityOf(node) {
  let count = 1;
  const visit = (child) => {
    if (isFunction(child)) return;
    if (BRANCHES.has(child.kind) || (ts.isBinaryExpression(child) && LOGICAL.has(child.operatorToken.kind))) count++;
    ts.forEachChild(child, visit);
  };
  ts.forEachChild(node, visit);
  return count;
}

const nameOf = (node, source) => node.name?.getText(source) ?? node.parent?.name?.getText(source) ?? "a function";

function functionProblems(node, source, lines) {
  const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
  const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
  let count = 0;
  for (let line = first; line <= last; line++) if (lines.has(line)) count++;
  const most = source.fileName.endsWith(".tsx") ? COMPONENT_LINES_MAX : FUNCTION_LINES_MAX;
  const name = nameOf(node, source);
  const parameters = node.parameters.filter((parameter) => parameter.name.getText(source) !== "this").length;
  return [
    ...(count > most ? [`${first + 1}: \`${name}\` has ${count} code lines, at most ${most}`] : []),
    ...(parameters > PARAMETERS_MAX
      ? [`${first + 1}: \`${name}\` has ${parameters} parameters, at most ${PARAMETERS_MAX}: take an options object`]
      : []),
  ];
}

function shapeProblem(node) {
  if (ts.isExportAssignment(node)) return "default export";
  if (hasModifier(node, ts.SyntaxKind.DefaultKeyword)) return "default export";
  if (ts.isExportSpecifier(node) && node.name.text === "default") return "default export";
  if (ts.isExportDeclaration(node) && (!node.exportClause || ts.isNamespaceExport(node.exportClause))) return "`export *`";
  if (node.kind === ts.SyntaxKind.AnyKeyword) return "`any`";
  return undefined;
}

function inspect(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lines = codeLines(source);
  const problems = [];
  const complex = [];
  const name = basename(file);
  if (!NAME.test(name)) problems.push("1: the name is not kebab-case");
  if (VAGUE.has(name.split(".")[0])) problems.push("1: a vague name: name the file for the one thing it exports");
  if (lines.size > FILE_LINES_MAX && !file.endsWith(".gen.ts")) problems.push(`1: ${lines.size} code lines, at most ${FILE_LINES_MAX}`);
  const visit = (node) => {
    const shape = shapeProblem(node);
    if (shape) problems.push(`${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}: ${shape}`);
    if (isFunction(node)) {
      problems.push(...functionProblems(node, source, lines));
      const complexity = complexityOf(node);
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      if (complexity > COMPLEXITY_MAX) complex.push({ key: `${file} ${nameOf(node, source)}`, line, complexity });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { codeLineCount: lines.size, problems: problems.map((problem) => `${file}:${problem}`), complex };
}

function complexityProblems(root, complex) {
  const known = existsSync(join(root, COMPLEXITY_EXCEPTIONS)) ? readJson(join(root, COMPLEXITY_EXCEPTIONS)) : {};
  const found = new Set(complex.map(({ key }) => key));
  return [
    ...complex
      .filter(({ key }) => known[key] === undefined)
      .map(({ key, line, complexity }) => {
        const [file, name] = key.split(" ");
        return `${file}:${line}: \`${name}\` has a complexity of ${complexity}, at most ${COMPLEXITY_MAX}: split it, or make it a table`;
      }),
    ...Object.keys(known)
      .filter((key) => !found.has(key))
      .map((key) => `${COMPLEXITY_EXCEPTIONS}: ${key} is not needed any more: remove it`),
  ];
}

function providerProblems(counts) {
  return [...counts].flatMap(([name, count]) => {
    const most = PROVIDER_LINES_MAX_OF[name] ?? PROVIDER_LINES_MAX;
    return name.startsWith("providers-") && count > most ? [`packages/${name}: ${count} code lines, at most ${most}`] : [];
  });
}

/** Packages whose source has a bound of its own (`codeLines`): a later growth changes the bound, with its reason in a decision record. */
function budgetProblems(root, counts) {
  const budgets = existsSync(join(root, BUDGETS)) ? readJson(join(root, BUDGETS)) : {};
  return [...counts].flatMap(([name, count]) => {
    const most = budgets[`@loopwright/${name}`]?.codeLines;
    return most !== undefined && count > most ? [`packages/${name}: ${count} code lines, at most ${most} (${BUDGETS})`] : [];
  });
}

async function check(root) {
  const problems = [];
  const warnings = [];
  const perPackage = new Map();
  const complex = [];
  const files = sources(root);
  for (const file of files) {
    const found = inspect(file, readFileSync(join(root, file), "utf8"));
    problems.push(...found.problems);
    complex.push(...found.complex);
    if (found.codeLineCount > FILE_LINES_WARN && found.codeLineCount <= FILE_LINES_MAX && !file.endsWith(".gen.ts"))
      warnings.push(`${file}: ${found.codeLineCount} code lines, better under ${FILE_LINES_WARN}`);
    const owner = file.split("/")[1];
    perPackage.set(owner, (perPackage.get(owner) ?? 0) + found.codeLineCount);
  }
  problems.push(
    ...complexityProblems(root, complex),
    ...providerProblems(perPackage),
    ...budgetProblems(root, perPackage),
    ...wideFolders(root, files),
  );
  return { problems, warnings, seen: `${files.length} files` };
}

const repeated = (line, count) => `${Array.from({ length: count }, (_, index) => line(index)).join("\n")}\n`;
const inCore = "packages/core/src";
/** A function of so much complexity: one for itself, and so many branches. */
const branchy = (name, complexity) =>
  `export function ${name}(value: number): number {\n${repeated((index) => `  if (value === ${index}) return ${index};`, complexity - 1)}  return -1;\n}\n`;
const crowd = (folder, count) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/file-${index}.ts`, "export {};\n"]));

export const limits = {
  name: "limits",
  check,
  sound: {
    [`${inCore}/short.ts`]: `/** Long comments\n${" * do not count.\n".repeat(400)} */\nexport const one = (a: number, b: number, c: number): number => a + b + c;\n`,
    [`${inCore}/short.test.ts`]: "export default (value: any) => value;\n",
    ...crowd(`${inCore}/full`, 25),
    ...crowd(`${inCore}/older`, 27),
    [`${inCore}/many-branches.ts`]: branchy("atTheLimit", 20),
    [`${inCore}/table.ts`]: branchy("declared", 30),
    [COMPLEXITY_EXCEPTIONS]: JSON.stringify({ [`${inCore}/table.ts declared`]: "a table" }),
    [BUDGETS]: JSON.stringify({ "@loopwright/bounded": { codeLines: 20 }, "@loopwright/at-its-bound": { codeLines: 20 } }),
    "packages/at-its-bound/src/part.ts": `// A comment does not count.\n\n${repeated((index) => `export const n${index} = ${index};`, 20)}`,
    "packages/at-its-bound/src/part.test.ts": repeated((index) => `export const n${index} = ${index};`, 9),
    ...Object.fromEntries(Object.keys(crowd(`${inCore}/full`, 25)).map((file) => [file.replace(".ts", ".test.ts"), "export {};\n"])),
    [EXCEPTIONS]: JSON.stringify({ wide: { [`${inCore}/older`]: 27 } }),
    "apps/cli/src/list.gen.ts": repeated((index) => `export const n${index} = ${index};`, 301),
  },
  planted: [
    {
      title: "a file of 301 code lines",
      files: { [`${inCore}/long.ts`]: repeated((index) => `export const n${index} = ${index};`, 301) },
      expects: /long\.ts:1: 301 code lines/,
    },
    {
      title: "a function of 71 code lines",
      files: { [`${inCore}/tall.ts`]: `export function tall(): void {\n${repeated((index) => `  void ${index};`, 69)}}\n` },
      expects: /tall\.ts:1: `tall` has 71 code lines/,
    },
    {
      title: "four parameters",
      files: { [`${inCore}/wide.ts`]: "export const wide = (a: 1, b: 1, c: 1, d: 1): unknown[] => [a, b, c, d];\n" },
      expects: /wide\.ts:1: `wide` has 4 parameters/,
    },
    {
      title: "a function of complexity 21",
      files: { [`${inCore}/branches.ts`]: branchy("branches", 21) },
      expects: /branches\.ts:1: `branches` has a complexity of 21, at most 20/,
    },
    {
      title: "a function of complexity 21 by its operators, in a method",
      files: {
        [`${inCore}/operators.ts`]: `export class One {\n  any(value?: number): unknown {\n    return ${Array.from({ length: 20 }, (_, index) => `value === ${index}`).join(" ||\n      ")} || value;\n  }\n}\n`,
      },
      expects: /operators\.ts:2: `any` has a complexity of 21/,
    },
    {
      title: "an exception for a function that is simple",
      files: {
        [COMPLEXITY_EXCEPTIONS]: JSON.stringify({
          [`${inCore}/table.ts declared`]: "a table",
          [`${inCore}/many-branches.ts atTheLimit`]: "once",
        }),
      },
      expects: /complexity-exceptions\.json: packages\/core\/src\/many-branches\.ts atTheLimit is not needed any more/,
    },
    {
      title: "a default export",
      files: { [`${inCore}/fallback.ts`]: "export default 1;\n" },
      expects: /fallback\.ts:1: default export/,
    },
    {
      title: "a default export by name",
      files: { [`${inCore}/renamed.ts`]: "const one = 1;\nexport { one as default };\n" },
      expects: /renamed\.ts:2: default export/,
    },
    { title: "export *", files: { [`${inCore}/star.ts`]: 'export * from "./short.ts";\n' }, expects: /star\.ts:1: `export \*`/ },
    { title: "any", files: { [`${inCore}/loose.ts`]: "export const loose: any = 1;\n" }, expects: /loose\.ts:1: `any`/ },
    { title: "a file named utils", files: { [`${inCore}/utils.ts`]: "export {};\n" }, expects: /utils\.ts:1: a vague name/ },
    {
      title: "a name in camel case",
      files: { [`${inCore}/camelCase.ts`]: "export {};\n" },
      expects: /camelCase\.ts:1: the name is not kebab-case/,
    },
    {
      title: "a folder of 26 files",
      files: crowd(`${inCore}/crowd`, 26),
      expects: /^packages\/core\/src\/crowd: 26 files beside one another, at most 25/,
    },
    {
      title: "exceptions for a folder that has fewer files now, and for one that has grown",
      files: {
        ...crowd(`${inCore}/grown`, 30),
        [EXCEPTIONS]: JSON.stringify({ wide: { [`${inCore}/older`]: 28, [`${inCore}/grown`]: 29, [`${inCore}/full`]: 26 } }),
      },
      expects: /^scripts\/gates\/folder-exceptions\.json: packages\/core\/src\/older has 27 files, fewer than 28: lower it/,
    },
    { title: "the one that has grown", files: {}, expects: /^packages\/core\/src\/grown: 30 files beside one another, at most 29/ },
    {
      title: "one that needs no exception",
      files: {},
      expects: /folder-exceptions\.json: packages\/core\/src\/full is not needed any more/,
    },
    {
      title: "a package over the bound of its source",
      files: {
        "packages/bounded/src/one.ts": repeated((index) => `export const n${index} = ${index};`, 15),
        "packages/bounded/src/two.ts": repeated((index) => `export const n${index} = ${index};`, 6),
      },
      expects: /packages\/bounded: 21 code lines, at most 20/,
    },
    {
      title: "a provider of 1,501 code lines",
      files: Object.fromEntries(
        Array.from({ length: 7 }, (_, part) => [
          `packages/providers-x/src/part-${part}.ts`,
          repeated((index) => `export const n${index} = ${index};`, 215),
        ]),
      ),
      expects: /packages\/providers-x: 1505 code lines/,
    },
  ],
};
