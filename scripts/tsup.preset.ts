// The one build recipe. A package states what it builds by its own package.json:
// every door of `exports` and every `bin`, named by its source file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { minifySync, parseSync } from "rolldown/utils";
import type { Options } from "tsup";

const SOURCE = "@loopwright/source";

interface Manifest {
  /** What a package imports of itself by condition: each file is built, and chosen only where the package is used. */
  readonly imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
}

/** The source files of a package that are built, by name: every door, every program, and what the package chooses of its own by condition. */
function entriesOf(folder: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const doors = Object.values(manifest.exports ?? {}).flatMap((door) => (typeof door === "string" ? [] : [door[SOURCE] ?? []].flat()));
  const binaries = Object.values(manifest.bin ?? {}).map((file) => file.replace("dist/", "src/").replace(/\.js$/, ".ts"));
  const chosen = Object.values(manifest.imports ?? {}).flatMap((files) => Object.values(files));
  const sources = chosen
    .flatMap((file) => (typeof file === "string" ? file : []))
    .map((file) => file.replace("./dist/", "./src/").replace(/\.js$/, ".ts"));
  return [...new Set([...doors, ...binaries, ...sources])].map((file) => file.replace(/^\.\//, ""));
}

/** Most characters of a line: Node.js prints the whole line of an error that is not caught. */
const lineMax = 300;

/** A line may begin before one of these: there a line break never ends a statement too early. */
const beginsLine = /(?:Statement|Declaration|Definition|Specifier|^Property)$/;

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
}

/** The nodes of some types, in the order of the code. */
function nodesOf(path: string, code: string, types: RegExp): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(walk);
    else if (typeof node === "object" && node !== null) {
      if ("type" in node && types.test(String(node.type))) found.push(node as SyntaxNode);
      Object.values(node).forEach(walk);
    }
  };
  walk(parseSync(path, code).program);
  return found.sort((one, other) => one.start - other.start);
}

/** Gives private methods and fields their names back: stack traces show them, and the minifier has no option that keeps them. */
function withPrivateNames(path: string, code: string, short: string): string {
  const [names, places] = [code, short].map((each) => nodesOf(path, each, /^PrivateIdentifier$/));
  if (names?.length !== places?.length) throw new Error(`${path}: the private names of the short code are not those of the code.`);
  let from = 0;
  const parts = (places ?? []).map(({ start, end }, index) => {
    const part = `${short.slice(from, start)}#${names?.[index]?.name}`;
    from = end;
    return part;
  });
  return [...parts, short.slice(from)].join("");
}

/** The code with a line break wherever the next part would make a line longer than `lineMax`. */
function inLines(path: string, code: string): string {
  const lines: string[] = [];
  let from = 0;
  let last = 0;
  for (const { start } of nodesOf(path, code, beginsLine)) {
    if (start - from > lineMax && last > from) {
      lines.push(code.slice(from, last));
      from = last;
    }
    last = start;
  }
  return [...lines, code.slice(from)].join("\n");
}

type Plugin = NonNullable<Options["plugins"]>[number];

/**
 * Shortens the names of parameters and local variables, and takes the white space out. Functions, methods and classes keep their names, and so
 * does everything at the top of a module: a stack trace reads as before.
 */
const shortLocals: Plugin = {
  name: "short-locals",
  renderChunk(code, { path }) {
    if (!path.endsWith(".js")) return undefined;
    const { code: short, errors } = minifySync(path, code, {
      module: true,
      compress: false,
      mangle: { toplevel: false, keepNames: { function: true, class: true } },
    });
    if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
    return { code: inLines(path, withPrivateNames(path, code, short)) };
  },
};

/** How the package in a folder is built. The folder must be the current one when the build starts: the bundler looks for the files from there. */
export function presetOf(folder: string): Options {
  return {
    entry: Object.fromEntries(entriesOf(folder).map((file) => [file.replace(/^src\//, "").replace(/\.ts$/, ""), file])),
    format: ["esm"],
    dts: false,
    clean: true,
    splitting: true,
    target: "node22",
    // Half as much to install as with all names and white space.
    esbuildOptions(esbuild) {
      esbuild.minifySyntax = true;
      // It would take the folder that was the current one when it was loaded.
      esbuild.absWorkingDir = folder;
    },
    plugins: [shortLocals],
    platform: "node",
    external: [/^#/],
    // node:sqlite exists under this name only.
    removeNodeProtocol: false,
  };
}
