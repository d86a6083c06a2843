// Writes the tables of options in the pages of docs/ from the docstrings of the interfaces: `node scripts/write-option-docs.mjs`. Its test compares.
// A table stands between `<!-- options: Name -->` and `<!-- /options -->`; the interface of that name is found wherever it is declared.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const table = /<!-- options: (\w+) -->\n[\s\S]*?<!-- \/options -->/g;
/** The packages whose interfaces a page may show. */
const packages = ["core", "host", "testing"];

/** Pages with tables, as paths from the root. */
export const pages = readdirSync(join(root, "docs"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`)
  .filter((page) => readFileSync(join(root, page), "utf8").includes("<!-- options: "));

const sources = () =>
  packages.flatMap((name) => {
    const folder = join(root, "packages", name, "src");
    return readdirSync(folder, { recursive: true })
      .filter((file) => file.endsWith(".ts") && !file.includes(".test"))
      .map((file) => join(folder, file));
  });

/** The declaration of an exported interface. @throws Error where there is none, or more than one. */
function declarationOf(name) {
  const found = sources().flatMap((path) => {
    const text = readFileSync(path, "utf8");
    if (!text.includes(`export interface ${name}`)) return [];
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    return source.statements.filter((node) => ts.isInterfaceDeclaration(node) && node.name.text === name);
  });
  if (found.length !== 1) throw new Error(`${found.length} exported interfaces are named ${name}; a table needs one.`);
  return found[0];
}

/** In one line, as a cell of a table. */
const cell = (text) => text.replace(/\s+/g, " ").trim().replaceAll("|", "\\|");

function docstringOf(member, name) {
  const [comment] = ts.getJSDocCommentsAndTags(member);
  const text = comment
    ?.getText()
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/^\s*\* ?/gm, "");
  if (!text?.trim()) throw new Error(`\`${name}.${member.name.getText()}\` has no docstring, and a table in docs/ needs it.`);
  return cell(text);
}

function rowOf(member, name) {
  const isMethod = ts.isMethodSignature(member);
  const type = isMethod
    ? `(${member.parameters.map((parameter) => parameter.getText()).join(", ")}) => ${member.type?.getText() ?? "void"}`
    : (member.type?.getText() ?? "");
  const shown = cell(type.replaceAll("readonly ", ""));
  const required = member.questionToken ? "" : " (required)";
  return `| \`${member.name.getText()}\`${required} | \`${shown}\` | ${docstringOf(member, name)} |`;
}

function tableOf(name) {
  const declaration = declarationOf(name);
  const members = declaration.members.filter((member) => ts.isPropertySignature(member) || ts.isMethodSignature(member));
  // A context is given whole: nothing of it is optional, so the mark would emit nothing.
  const rows = members.map((member) => rowOf(member, name));
  const isGiven = members.every((member) => !member.questionToken);
  const shown = isGiven ? rows.map((row) => row.replace(" (required)", "")) : rows;
  return ["| name | type | meaning |", "|---|---|---|", ...shown].join("\n");
}

/** The page with its tables as they should be. */
export function withTables(text) {
  return text.replace(table, (_, name) => `<!-- options: ${name} -->\n${tableOf(name)}\n<!-- /options -->`);
}

if (import.meta.main) for (const page of pages) writeFileSync(join(root, page), withTables(readFileSync(join(root, page), "utf8")));
