// The public API of a package as text: the declarations behind each of its doors, read from the built `dist/*.d.ts`.
// Run by itself (`npm run api`) it rewrites `api/`.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { home, published } from "./tree.mjs";

const printer = ts.createPrinter({ removeComments: true });

/** A declaration without what only states where it stands. */
function printed(declaration) {
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const code = printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile());
  return code.replace(/^(export )?(declare )?/, "");
}

/** Text of one exported name; a name that an earlier door showed is only pointed at. */
function entry(symbol, door, { checker, folder, shown }) {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const declarations = target.declarations ?? [];
  const origin = declarations[0]?.getSourceFile().fileName;
  if (origin === undefined) return `${symbol.name}; // does not resolve`;
  if (!resolve(origin).startsWith(`${resolve(folder)}/`) || origin.includes("/node_modules/"))
    return `${symbol.name}; // of another package`;
  const key = `${target.name} ${origin} ${declarations[0].pos}`;
  if (shown.has(key)) return `${symbol.name}; // see "${shown.get(key)}"`;
  shown.set(key, door);
  const renamed = target.name === symbol.name ? [] : [`// exported as ${symbol.name}`];
  return [...renamed, ...declarations.map(printed)].join("\n");
}

/** API report of the package in `root/folder`, or undefined when it has no doors. */
export function apiReport(root, { folder, manifest }) {
  const doors = Object.entries(manifest.exports ?? {}).filter(([, door]) => typeof door === "object" && door.types);
  if (doors.length === 0) return undefined;
  const files = doors.map(([, door]) => join(root, folder, door.types));
  const missing = files.find((file) => !existsSync(file));
  if (missing) throw new Error(`${missing} is missing: build first`);
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noLib: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const context = { checker, folder: join(root, folder), shown: new Map() };
  const sections = doors.map(([door], index) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(files[index]));
    const names = module ? checker.getExportsOfModule(module).toSorted((a, b) => (a.name < b.name ? -1 : 1)) : [];
    const entries = names.map((symbol) => entry(symbol, door, context));
    return `## ${manifest.name}${door.slice(1)}\n\n\`\`\`ts\n${entries.join("\n\n")}\n\`\`\`\n`;
  });
  return `# API of ${manifest.name}\n\nMade by \`npm run api\` from the built declarations. Do not edit.\n\n${sections.join("\n")}`;
}

/** File of a package's report. */
export const reportFile = ({ folder }) => `api/${folder.split("/")[1]}.api.md`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = join(home, "api");
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(target)) rmSync(join(target, name));
  for (const workspace of published(home)) {
    const report = apiReport(home, workspace);
    if (report === undefined) continue;
    const file = join(home, reportFile(workspace));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, report);
    console.log(reportFile(workspace));
  }
}
