// No document names an option, variable, script, file, export or command that does not exist: README.md, AGENTS.md, ARCHITECTURE.md, CONTRIBUTING.md,
// the pages of docs/ and the README of each package. Decision records are history, and may name what is gone; the rows of docs/coverage.md are goals,
// and may name what is not there yet.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJson, trackedFiles, workspaces } from "./tree.mjs";

const isDocument = (file) =>
  /^(README|AGENTS|ARCHITECTURE|CONTRIBUTING)\.md$|^docs\/(cookbook\/)?(?!coverage\.md)[^/]+\.md$|^(packages|apps)\/[^/]+\/README\.md$/.test(
    file,
  );
const isProgram = (file) => /\.(tsx?|m?js|mts|cjs|sh|ya?ml)$|^\.ci\/|(^|\/)package\.json$/.test(file);

/** Written by the benchmark, on a quiet machine. */
const MADE_LATER = new Set(["docs/performance.md"]);

/** Options of other programs than ours, which documents show. */
const FOREIGN_OPTIONS = new Set([
  ...["--save-dev", "--conditions", "--import", "--version", "--help", "--global", "--frozen-lockfile", "--noEmit"],
]);

/** Code in a document: fenced blocks and inline code, each with its line. */
function codeOf(text) {
  const pieces = [];
  const lines = text.split("\n");
  let fence;
  for (const [index, line] of lines.entries()) {
    const [, mark, language] = /^\s*(```+)(.*)$/.exec(line) ?? [];
    if (mark && fence) fence = undefined;
    else if (mark) {
      fence = { language: language.trim(), code: "", line: index + 2, isBlock: true };
      pieces.push(fence);
    } else if (fence) fence.code += `${line}\n`;
    else for (const [, code] of line.matchAll(/`([^`]+)`/g)) pieces.push({ language: "", code, line: index + 1, isBlock: false });
  }
  return pieces;
}

/** Names behind each entry point, from the API reports: `@loopwright/core/memory` to its exports. */
function exportsOf(root) {
  const found = new Map();
  for (const file of trackedFiles(root).filter((each) => /^api\/[^/]+\.api\.md$/.test(each))) {
    const [, ...parts] = readFileSync(join(root, file), "utf8").split(/^## /m);
    for (const part of parts) {
      const [name] = part.split("\n", 1);
      const names = [
        ...part.matchAll(/^(?:abstract )?(?:interface|function|const|class|type) (\w+)/gm),
        ...part.matchAll(/^(\w+); \/\/ of another package$/gm),
      ].map(([, word]) => word);
      found.set(name.trim(), new Set(names));
    }
  }
  return found;
}

/** What the programs of the repository contain, to look names up in. */
function programText(root) {
  return trackedFiles(root)
    .filter((file) => isProgram(file) && file !== "scripts/gates/mentions.mjs")
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
}

const PATH = /^(?:\.\/)?((?:packages|apps|docs|scripts|examples|templates|bench|api)\/[\w./-]*\w)\/?$/;

function problemsOfPiece({ code, language, isBlock }, known) {
  const problems = [];
  const isCode = isBlock && /^(ts|js|tsx|jsx)\b/.test(language);
  if (!isCode)
    for (const [option] of code.matchAll(/(?<![\w-])--[a-zA-Z][\w-]+/g))
      if (!FOREIGN_OPTIONS.has(option) && !known.options.has(option)) problems.push(`the option ${option}`);
  for (const [variable] of code.matchAll(/\bLOOPWRIGHT_[A-Z0-9_]*[A-Z0-9]\b/g))
    if (!known.variables.has(variable)) problems.push(`the variable ${variable}`);
  for (const [, script] of code.matchAll(/\bnpm run ([\w-]+)/g)) if (!known.scripts.has(script)) problems.push(`the script ${script}`);
  for (const [, file] of code.matchAll(/\bnode (scripts\/[\w./-]+)/g)) if (!known.exists(file)) problems.push(`the file ${file}`);
  const [, path] = isBlock ? [] : (PATH.exec(code) ?? []);
  if (path && !MADE_LATER.has(path) && !known.exists(path)) problems.push(`the path ${path}`);
  for (const [, list, from] of code.matchAll(/\bimport (?:type )?\{([^}]+)\} from "(@loopwright\/[\w/-]+|loopwright)"/g)) {
    const names = known.exports.get(from);
    if (!names) {
      problems.push(`the entry point ${from}`);
      continue;
    }
    for (const each of list.split(",")) {
      const [name] = each
        .trim()
        .replace(/^type /, "")
        .split(" as ");
      if (name && !names.has(name)) problems.push(`the export ${name} of ${from}`);
    }
  }
  for (const [, command] of code.matchAll(/(?:^|\$ |npx |\| )loopwright ([a-z][a-z-]+)\b(?![\w./@])/gm))
    if (!known.commands.has(command)) problems.push(`the command loopwright ${command}`);
  return problems;
}

async function check(root) {
  const text = programText(root);
  const manifests = [
    ...workspaces(root).map(({ manifest }) => manifest),
    ...(existsSync(join(root, "package.json")) ? [readJson(join(root, "package.json"))] : []),
  ];
  const entries = exportsOf(root);
  const shared = {
    options: new Set(text.match(/--[a-zA-Z][\w-]+/g)),
    variables: new Set(text.match(/\bLOOPWRIGHT_[A-Z0-9_]*[A-Z0-9]\b/g)),
    scripts: new Set(manifests.flatMap(({ scripts = {} }) => Object.keys(scripts))),
    commands: new Set([...text.matchAll(/\.command\(\s*"([a-z-]+)/g)].map(([, name]) => name)),
    exports: entries,
  };
  const documents = trackedFiles(root).filter(isDocument);
  const problems = documents.flatMap((file) => {
    const exists = (path) => existsSync(join(root, path)) || existsSync(join(root, dirname(file), path));
    return codeOf(readFileSync(join(root, file), "utf8")).flatMap((piece) =>
      problemsOfPiece(piece, { ...shared, exists }).map((what) => `${file}:${piece.line}: ${what} does not exist`),
    );
  });
  return { problems, seen: `${documents.length} documents, ${entries.size} entry points` };
}

const document = (body) => `# A page\n\n${body}\n`;
const block = (language, code) => `\`\`\`${language}\n${code}\n\`\`\``;

export const mentions = {
  name: "mentions",
  check,
  sound: {
    "package.json": JSON.stringify({ scripts: { gates: "node scripts/run.mjs" } }),
    "packages/core/package.json": JSON.stringify({ name: "@loopwright/core" }),
    "packages/core/README.md": document(
      `Run \`src/main.ts\` or \`packages/core/README.md\`. ${"`LOOPWRIGHT_SEED=1 npm run gates -- --deep`"}`,
    ),
    "packages/core/src/main.ts":
      'program.command("run [options]").option("--deep", "goes deep"); process.env["LOOPWRIGHT_SEED"];\nprogram.command("plan <user>");\n',
    "api/core.api.md":
      "# API of @loopwright/core\n\n## @loopwright/core\n\n```ts\nfunction createAgent(): void;\n\ninterface Agent {}\n```\n",
    "docs/sound.md": document(
      `${block("ts", 'import { createAgent, type Agent as Other } from "@loopwright/core";')}\n\n${block("sh", "npx loopwright run --deep\nnpm install --save-dev loopwright")}`,
    ),
    "docs/decisions/0001-gone.md": document("The option `--gone` was removed with `packages/gone`."),
  },
  planted: [
    ["an option that does not exist", "sh", "npx loopwright run --deeper", /the option --deeper does not exist/],
    ["a variable that does not exist", "sh", "LOOPWRIGHT_SEEDLING=1 npm test", /the variable LOOPWRIGHT_SEEDLING does not exist/],
    ["a script that does not exist", "sh", "npm run gate", /the script gate does not exist/],
    ["a script file that does not exist", "sh", "node scripts/gone.mjs", /the file scripts\/gone\.mjs does not exist/],
    ["a command that does not exist", "sh", "npx loopwright serve --deep", /the command loopwright serve does not exist/],
    [
      "an export that does not exist",
      "ts",
      'import { createAgents } from "@loopwright/core";',
      /the export createAgents of @loopwright\/core/,
    ],
    [
      "an entry point that does not exist",
      "ts",
      'import { createAgent } from "@loopwright/core/agents";',
      /the entry point @loopwright\/core\/agents/,
    ],
  ]
    .map(([title, language, code, expects], index) => ({
      title,
      files: { [`docs/planted-${index}.md`]: document(block(language, code)) },
      expects,
    }))
    .concat([
      {
        title: "a path that does not exist",
        files: { "docs/path.md": document("See `packages/core/src/gone.ts`.") },
        expects: /docs\/path\.md:3: the path packages\/core\/src\/gone\.ts does not exist/,
      },
    ]),
};
