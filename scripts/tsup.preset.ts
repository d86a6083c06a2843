// The one build recipe. A package says what it builds by its own package.json:
// every door of `exports` and every `bin`, named by its source file.
import { readFileSync } from "node:fs";
import type { Options } from "tsup";

const SOURCE = "@loopwright/source";

interface Manifest {
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;

const doors = Object.values(manifest.exports ?? {}).flatMap((door) => (typeof door === "string" ? [] : [door[SOURCE] ?? []].flat()));
const binaries = Object.values(manifest.bin ?? {}).map((file) => file.replace("dist/", "src/").replace(/\.js$/, ".ts"));
const entries = [...doors, ...binaries].map((file) => file.replace(/^\.\//, ""));

const options: Options = {
  entry: Object.fromEntries(entries.map((file) => [file.replace(/^src\//, "").replace(/\.ts$/, ""), file])),
  format: ["esm"],
  dts: false,
  clean: true,
  splitting: true,
  target: "node22",
  // A third less to install; names stay, so stack traces read as before, and lines stay short enough to find the place.
  esbuildOptions(esbuild) {
    esbuild.minifyWhitespace = true;
    esbuild.minifySyntax = true;
    esbuild.lineLimit = 160;
  },
  platform: "node",
  // node:sqlite exists under this name only.
  removeNodeProtocol: false,
};

export default options;
