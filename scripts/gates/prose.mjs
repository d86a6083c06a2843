// No idiom that a reader has to decode in comments, names, error messages, promises of the kits, titles of tests and documents.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { sources, trackedFiles } from "./tree.mjs";

/** Words that stand for a term of the field: "is notified", "reports", "continues". */
const IDIOM =
  /\b(nobody|somebody|whoever|whom?|told|tells?|says|said|hears?|heard|goes on|go on|went on|strangers?|in hand|heed|the night)\b/gi;

/** The same in the words of a name such as `toldOf` or `#goOn`. */
const IDIOM_IN_NAME =
  /^(nobody|nobodys|somebody|whoever|whom|told|untold|tell|tells|teller|telling|says|said|hears?|heard|unheard|strangers?|heed)$/i;
const IDIOM_AS_NAME = /(^|[a-z#_])(goOn|goesOn|GoOn|GoesOn|wentOn|inHand)($|[A-Z])/;

/** Whether the text is shown with an error, or is a promise of a kit: the value of `message`, `fix` or `promise`. */
const isShownText = ({ parent }) => ts.isPropertyAssignment(parent) && /^(message|fix|promise)$/.test(parent.name.getText());

/** Comments and error messages of a source file, by their position in it. */
function proseOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = new Map();
  const takeComments = (from, to) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, from) ?? []) found.set(pos, text.slice(pos, end));
    for (const { pos, end } of ts.getTrailingCommentRanges(text, to) ?? []) found.set(pos, text.slice(pos, end));
  };
  const visit = (node) => {
    if (node.getChildCount(source) === 0) takeComments(node.getFullStart(), node.getEnd());
    if ((ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) && isShownText(node)) found.set(node.pos, node.getText(source));
    ts.forEachChild(node, visit);
    for (const child of node.getChildren(source)) if (ts.isToken(child)) takeComments(child.getFullStart(), child.getEnd());
  };
  visit(source);
  return found;
}

/** The names in a file that have idiom in them, by their position in it. */
function namesOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = new Map();
  const visit = (node) => {
    if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && hasIdiom(node.text)) found.set(node.getStart(source), node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const hasIdiom = (name) =>
  IDIOM_AS_NAME.test(name) || (name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).some((word) => IDIOM_IN_NAME.test(word));

const isTestFile = (file) => /\.test\.(tsx?|mjs)$/.test(file);

/** Titles of the tests in a file, by their position in it. */
function titlesOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = new Map();
  const visit = (node) => {
    const [title] = ts.isCallExpression(node) && /^(it|test|describe)\b/.test(node.expression.getText(source)) ? node.arguments : [];
    if (title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title)))
      found.set(title.getStart(source), title.getText(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const isCode = (file) => /\.(tsx?|mts|mjs)$/.test(file);

const lineAt = (text, position) => text.slice(0, position).split("\n").length;

/** The idiom in one piece of a file, as sentences with file and line. */
const problemsIn = (file, whole, start, piece) =>
  [...piece.matchAll(IDIOM)].map(
    ([word], i, all) => `${file}:${lineAt(whole, start + all[i].index)}: "${word}": name the subject and use the term of the field`,
  );

const problemsOfNames = (file, text) =>
  [...namesOf(file, text)].map(
    ([start, name]) => `${file}:${lineAt(text, start)}: the name "${name}": name the subject and use the term of the field`,
  );

const isDocument = (file) =>
  file.endsWith(".md") && !file.startsWith("api/") && !file.startsWith(".changeset/") && !/(^|\/)CHANGELOG\.md$/.test(file);

async function check(root) {
  const read = (file) => readFileSync(join(root, file), "utf8");
  const code = sources(root);
  const tracked = trackedFiles(root);
  const tests = tracked.filter(isTestFile);
  const known = new Set(code);
  const others = tracked.filter((file) => isCode(file) && !known.has(file) && file !== "scripts/gates/prose.mjs");
  const documents = tracked.filter(isDocument);
  const problems = [
    ...code.flatMap((file) => {
      const text = read(file);
      return [...proseOf(file, text)].flatMap(([start, piece]) => problemsIn(file, text, start, piece));
    }),
    ...others.flatMap((file) => {
      const text = read(file);
      return [...proseOf(file, text)].flatMap(([start, piece]) => (piece.startsWith("/") ? problemsIn(file, text, start, piece) : []));
    }),
    ...[...code, ...others].flatMap((file) => problemsOfNames(file, read(file))),
    ...tests.flatMap((file) => {
      const text = read(file);
      return [...titlesOf(file, text)].flatMap(([start, piece]) => problemsIn(file, text, start, piece));
    }),
    ...documents.flatMap((file) => {
      const text = read(file);
      return problemsIn(file, text, 0, text);
    }),
  ];
  return { problems, seen: `${code.length} sources, ${tests.length} files of tests, ${documents.length} documents` };
}

export const prose = {
  name: "prose",
  check,
  sound: {
    "packages/a/package.json": "{}",
    "packages/a/src/index.ts": "/** Subscribers are notified after each append. */\nexport const notified = 'nobody says';\n",
    "packages/a/src/index.test.ts": 'it("is notified", () => undefined); // notified\n',
    "docs/a.md": "The reader gets the events.\n",
  },
  planted: [
    {
      title: "idiom in a comment",
      files: { "packages/b/package.json": "{}", "packages/b/src/index.ts": "export const b = 1; // nobody is told\n" },
      expects: /packages\/b\/src\/index\.ts:1: "told"/,
    },
    {
      title: "idiom in an error message",
      files: { "packages/c/package.json": "{}", "packages/c/src/index.ts": "export const error = { message: `${1} says no` };\n" },
      expects: /packages\/c\/src\/index\.ts:1: "says"/,
    },
    {
      title: "idiom in the title of a test",
      files: { "packages/a/src/d.test.ts": 'describe("d", () => {\n  it.each([])(`tells ${1}`, () => {});\n});\n' },
      expects: /packages\/a\/src\/d\.test\.ts:2: "tells"/,
    },
    {
      title: "idiom in a comment of a test",
      files: { "packages/a/src/e.test.ts": 'it("is notified", () => undefined); // nobody\n' },
      expects: /packages\/a\/src\/e\.test\.ts:1: "nobody"/,
    },
    {
      title: "idiom in a name",
      files: { "packages/a/src/f.ts": "export const isTold = 1;\nexport class A {\n  #goOn = isTold;\n}\n" },
      expects: /packages\/a\/src\/f\.ts:1: the name "isTold"/,
    },
    {
      title: "idiom in a promise of a kit",
      files: { "packages/a/src/g.ts": 'export const g = { promise: "a subscriber is told" };\n' },
      expects: /packages\/a\/src\/g\.ts:1: "told"/,
    },
    { title: "idiom in a document", files: { "docs/b.md": "# B\n\nIt goes on.\n" }, expects: /docs\/b\.md:3: "goes on"/ },
  ],
};
