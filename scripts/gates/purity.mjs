// No hidden time, randomness or platform in the packages a simulator must be able to drive, and no waiting in the loop.
import { join } from "node:path";
import ts from "typescript";
import { fromRoot, sources } from "./tree.mjs";

/** The only files that may touch the real clock and real randomness: the adapters of the clock and id ports, and what a client is given by its platform. */
const ADAPTERS = new Set([
  "packages/core/src/memory/system-clock.ts",
  "packages/core/src/memory/random-ids.ts",
  "packages/client/src/platform.ts",
]);
const PURE = /^packages\/(core|client|provider-kit|testing|host|embed|auth)\/src\/(?!node\/|(?<=provider-kit\/src\/)testing\/)/;
const LOOP = /^packages\/core\/src\/loop\//;
const PORTS = /^packages\/core\/src\/ports\//;

const GLOBALS = new Set([
  ...["process", "Buffer", "require", "global", "__dirname", "__filename", "performance"],
  ...["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "clearTimeout", "clearInterval", "clearImmediate"],
]);
const MEMBERS = {
  Date: new Set(["now"]),
  Math: new Set(["random"]),
  crypto: new Set(["randomUUID", "getRandomValues"]),
  AbortSignal: new Set(["timeout"]),
};

/** Name of a member access, dotted or by a literal key. */
function memberName(node) {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  return ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression) ? node.argumentExpression.text : undefined;
}

/** The global that an expression names (`Date`, `globalThis.Date`), unless a declaration of ours hides it. */
function globalNamed(node, checker) {
  if (ts.isIdentifier(node)) return checker.resolveName(node.text, node, ts.SymbolFlags.Value, false) ? undefined : node.text;
  const name = memberName(node);
  if (name === undefined || !ts.isIdentifier(node.expression)) return undefined;
  return ["globalThis", "self"].includes(node.expression.text) ? name : undefined;
}

const isDeclaredName = (node) =>
  (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) ||
  ((ts.isPropertyAssignment(node.parent) || ts.isPropertySignature(node.parent) || ts.isMethodSignature(node.parent)) &&
    node.parent.name === node) ||
  (ts.isBindingElement(node.parent) && node.parent.propertyName === node);

function impurity(node, checker) {
  const isName = ts.isIdentifier(node) && !isDeclaredName(node) && !ts.isPartOfTypeNode(node);
  if (isName || memberName(node) !== undefined) {
    const name = globalNamed(node, checker);
    if (name !== undefined && GLOBALS.has(name)) return `\`${name}\``;
  }
  const member = memberName(node);
  if (member !== undefined) {
    const owner = globalNamed(node.expression, checker);
    if (owner !== undefined && MEMBERS[owner]?.has(member)) return `\`${owner}.${member}\``;
  }
  if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && globalNamed(node.expression, checker) === "Date")
    if (ts.isCallExpression(node) || !node.arguments?.length) return "`new Date()`";
  if (ts.isVariableDeclaration(node) && node.initializer && ts.isObjectBindingPattern(node.name)) {
    const owner = globalNamed(node.initializer, checker);
    const taken = node.name.elements.map((element) => (element.propertyName ?? element.name).getText());
    const banned = owner === "globalThis" || owner === "self" ? GLOBALS : MEMBERS[owner];
    const found = taken.find((name) => banned?.has(name));
    if (found) return `\`${owner}.${found}\``;
  }
  return undefined;
}

function waiting(node) {
  if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier)) return "`await`";
  if (node.kind === ts.SyntaxKind.AsyncKeyword) return "`async`";
  return ts.isIdentifier(node) && /^Promise(Like)?$/.test(node.text) ? `\`${node.text}\`` : undefined;
}

/** A port is types, and at most the limits that belong to it: plain constants, nothing that runs. */
function running(node) {
  if (ts.isClassLike(node) || ts.isCallExpression(node) || ts.isNewExpression(node)) return node;
  if (ts.isFunctionLike(node) && "body" in node && node.body) return node;
  return ts.forEachChild(node, running);
}

function inspect(source, file, checker) {
  const problems = [];
  const report = (node, text) => problems.push(`${file}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}: ${text}`);
  const visit = (node) => {
    const found = ADAPTERS.has(file) ? undefined : impurity(node, checker);
    if (found) report(node, `${found}: take it from a port`);
    const waits = LOOP.test(file) ? waiting(node) : undefined;
    if (waits) report(node, `${waits} in the loop, which decides and never waits`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  if (PORTS.test(file))
    for (const statement of source.statements) if (running(statement)) report(statement, "ports hold types and limits, nothing that runs");
  return problems;
}

async function check(root) {
  const files = sources(root).filter((file) => PURE.test(file));
  // Neither libraries nor other packages are loaded: a name that resolves is one of ours, any other is a global.
  const program = ts.createProgram(
    files.map((file) => join(root, file)),
    { noLib: true, noResolve: true, types: [], target: ts.ScriptTarget.Latest, module: ts.ModuleKind.ESNext },
  );
  const checker = program.getTypeChecker();
  const problems = program.getSourceFiles().flatMap((source) => inspect(source, fromRoot(root, source.fileName), checker));
  return { problems, seen: `${files.length} files` };
}

const core = (name, text) => ({ [`packages/core/src/${name}`]: text });
const impure = (name, code, written) => ({
  title: code.trim(),
  files: core(`driver/${name}.ts`, `export const value = (): unknown => ${code};\n`),
  expects: new RegExp(`driver/${name}\\.ts:1: \`${written}\``),
});

export const purity = {
  name: "purity",
  check,
  sound: {
    ...core("memory/system-clock.ts", "export const now = (): number => Date.now();\nexport const later = setTimeout;\n"),
    ...core("memory/random-ids.ts", "export const id = (): string => crypto.randomUUID();\n"),
    ...core(
      "driver/drive.ts",
      "export const at = (clock: { now(): number; setTimeout(): void }): Date => (clock.setTimeout(), new Date(clock.now()));\n",
    ),
    ...core("driver/own-name.ts", "export function run(process: { readonly Buffer: number }): number {\n  return process.Buffer;\n}\n"),
    ...core("driver/drive.test.ts", "setTimeout(() => process.exit(), Date.now());\n"),
    ...core("loop/fold.ts", "/** Never awaits a Promise. */\nexport const fold = (state: number): number => Math.max(state, 1);\n"),
    ...core(
      "ports/clock.ts",
      'import type { A } from "../a.ts";\nexport interface Clock {\n  now(): A;\n}\nexport const clockLimits = { waitMs: 60 * 1000 };\nexport type { A };\n',
    ),
    "packages/provider-kit/src/node/index.ts": "export const pid = process.pid;\n",
    "packages/provider-kit/src/testing/wire.ts": "export const pid = process.pid;\n",
    "packages/store-sqlite/src/index.ts": "export const pid = process.pid + Date.now();\n",
  },
  planted: [
    impure("time", "Date.now()", "Date.now"),
    impure("time-by-key", 'Date["now"]()', "Date.now"),
    impure("date", "new Date()", "new Date\\(\\)"),
    impure("random", "Math.random()", "Math.random"),
    impure("global-random", "globalThis.Math.random()", "Math.random"),
    impure("timer", "setTimeout(() => 1, 1)", "setTimeout"),
    impure("global-timer", "globalThis.setInterval(() => 1, 1)", "setInterval"),
    impure("microtask", "queueMicrotask(() => 1)", "queueMicrotask"),
    impure("immediate", "setImmediate(() => 1)", "setImmediate"),
    impure("performance", "performance.now()", "performance"),
    impure("uuid", "crypto.randomUUID()", "crypto.randomUUID"),
    impure("signal", "AbortSignal.timeout(5)", "AbortSignal.timeout"),
    impure("process", "process.env", "process"),
    impure("buffer", 'Buffer.from("x")', "Buffer"),
    {
      title: "const { now } = Date",
      files: core("driver/taken.ts", "const { now } = Date;\nexport const at = now;\n"),
      expects: /driver\/taken\.ts:1: `Date\.now`/,
    },
    {
      title: "a timer in host",
      files: { "packages/host/src/wait.ts": "export const wait = (): unknown => setTimeout(() => {}, 1);\n" },
      expects: /host\/src\/wait\.ts:1: `setTimeout`/,
    },
    {
      title: "a timer in provider-kit",
      files: { "packages/provider-kit/src/retry.ts": "export const wait = (): unknown => setTimeout(() => {}, 1);\n" },
      expects: /provider-kit\/src\/retry\.ts:1: `setTimeout`/,
    },
    {
      title: "a timer in the contract kits",
      files: { "packages/testing/src/kit/wait.ts": "export const wait = (): unknown => setTimeout(() => {}, 1);\n" },
      expects: /testing\/src\/kit\/wait\.ts:1: `setTimeout`/,
    },
    {
      title: "async in the loop",
      files: core("loop/plan.ts", "export async function plan() {}\n"),
      expects: /loop\/plan\.ts:1: `async` in the loop/,
    },
    {
      title: "await in the loop",
      files: core("loop/fold-turns.ts", "export const turns = (async () => {\n  await 1;\n});\n"),
      expects: /loop\/fold-turns\.ts:2: `await` in the loop/,
    },
    {
      title: "Promise in the loop",
      files: core("loop/fold-calls.ts", "export type Calls = Promise<number>;\n"),
      expects: /loop\/fold-calls\.ts:1: `Promise` in the loop/,
    },
    {
      title: "a function among the ports",
      files: core("ports/key.ts", "export const key = (id: string): string => id;\n"),
      expects: /ports\/key\.ts:1: ports hold types and limits/,
    },
  ],
};
