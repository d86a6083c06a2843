// Idiom in comments, error messages and documents that a reader has to decode. Counted for each package; the count may only fall.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { readJson, sources, trackedFiles } from "./tree.mjs";

const BASELINE = "scripts/gates/prose-baseline.json";

/** Words that stand for a term of the field: who is notified, what a component reports, what continues. */
const IDIOM =
  /\b(nobody|somebody|whoever|whom?|told|tells?|says?|said|hears?|heard|goes on|go on|went on|strangers?|in hand|heed|the night)\b/gi;

const countIn = (text) => text.match(IDIOM)?.length ?? 0;

/** Whether the text is what an error says: the value of `message` or `fix`. */
const isErrorText = ({ parent }) => ts.isPropertyAssignment(parent) && /^(message|fix)$/.test(parent.name.getText());

/** Comments and error messages of a source file. */
function proseOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = new Map();
  const takeComments = (from, to) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, from) ?? []) found.set(pos, text.slice(pos, end));
    for (const { pos, end } of ts.getTrailingCommentRanges(text, to) ?? []) found.set(pos, text.slice(pos, end));
  };
  const visit = (node) => {
    if (node.getChildCount(source) === 0) takeComments(node.getFullStart(), node.getEnd());
    if ((ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) && isErrorText(node)) found.set(node.pos, node.getText(source));
    ts.forEachChild(node, visit);
    for (const child of node.getChildren(source)) if (ts.isToken(child)) takeComments(child.getFullStart(), child.getEnd());
  };
  visit(source);
  return [...found.values()].join("\n");
}

/** `packages/core/src/loop/fold.ts` belongs to `packages/core`, `docs/http.md` to `docs`. */
const areaOf = (file) =>
  /^(packages|apps)\//.test(file) ? file.split("/").slice(0, 2).join("/") : file.includes("/") ? file.split("/")[0] : ".";

/** How often the idiom stands in each area. */
function countProse(root) {
  const counts = {};
  const add = (file, text) => {
    const count = countIn(text);
    if (count > 0) counts[areaOf(file)] = (counts[areaOf(file)] ?? 0) + count;
  };
  for (const file of sources(root)) add(file, proseOf(file, readFileSync(join(root, file), "utf8")));
  for (const file of trackedFiles(root))
    if (file.endsWith(".md") && !file.startsWith(".changeset/") && !/(^|\/)CHANGELOG\.md$/.test(file))
      add(file, readFileSync(join(root, file), "utf8"));
  return Object.fromEntries(Object.entries(counts).sort());
}

async function check(root) {
  const counts = countProse(root);
  const baseline = existsSync(join(root, BASELINE)) ? readJson(join(root, BASELINE)) : {};
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const problems = Object.entries(counts)
    .filter(([area, count]) => count > (baseline[area] ?? 0))
    .map(
      ([area, count]) =>
        `${area}: ${count} words of idiom in comments, errors and documents, at most ${baseline[area] ?? 0}: name the subject and the term of the field`,
    );
  const warnings = Object.entries(baseline)
    .filter(([area, most]) => (counts[area] ?? 0) < most)
    .map(([area, most]) => `${area}: ${counts[area] ?? 0} words of idiom, fewer than the ${most} of ${BASELINE}: lower it`);
  return { problems, warnings, seen: `${total} words in ${Object.keys(counts).length} areas` };
}

const baselineOf = (counts) => JSON.stringify(counts);

export const prose = {
  name: "prose",
  check,
  sound: {
    [BASELINE]: baselineOf({ "packages/a": 1, docs: 1 }),
    "packages/a/package.json": "{}",
    "packages/a/src/index.ts": "/** Subscribers are notified after each append, and nobody else. */\nexport const told = 'nobody says';\n",
    "docs/a.md": "Whoever reads this may go.\n",
  },
  planted: [
    {
      title: "idiom in a comment",
      files: { "packages/b/package.json": "{}", "packages/b/src/index.ts": "export const b = 1; // nobody is told\n" },
      expects: /packages\/b: 2 words/,
    },
    {
      title: "idiom in an error message",
      files: { "packages/c/package.json": "{}", "packages/c/src/index.ts": "export const error = { message: `${1} says no` };\n" },
      expects: /packages\/c: 1 words/,
    },
    { title: "idiom in a document beyond the baseline", files: { "docs/b.md": "It goes on.\n" }, expects: /docs: 2 words/ },
  ],
};
