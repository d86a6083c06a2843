// Formatting and lint rules: biome.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bin, home, tool } from "./tree.mjs";

async function check(root) {
  const run = tool(bin("biome"), ["ci", ".", "--colors=off", "--reporter=concise", "--max-diagnostics=200"], root);
  const seen = /Checked (\d+) files/.exec(run.output)?.[1];
  if (seen === undefined) throw new Error(run.output);
  const lines = run.output.split("\n").map((line) => line.trim());
  const problems = lines.filter((line) => line.startsWith("× ") && !line.startsWith("× Some errors"));
  if (run.code !== 0 && problems.length === 0) problems.push(run.output);
  return { problems, warnings: lines.filter((line) => line.startsWith("! ")), seen: `${seen} files` };
}

export const lint = {
  name: "lint",
  check,
  sound: {
    "biome.json": readFileSync(join(home, "biome.json"), "utf8"),
    ".gitignore": "dist\n",
    "src/fine.ts": "export const fine = 1;\n",
  },
  planted: [
    { title: "an unformatted line", files: { "src/format.ts": "export const  a = 1\n" }, expects: /src\/format\.ts/ },
    {
      title: "an unused import",
      files: { "src/import.ts": 'import { fine } from "./fine.ts";\n\nexport const a = 1;\n' },
      expects: /src\/import\.ts.*noUnusedImports/,
    },
  ],
};
