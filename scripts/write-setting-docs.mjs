// Writes the tables of settings in docs/operate.md from the options of the command line: `node scripts/write-setting-docs.mjs`. Its test compares.
import { readFileSync, writeFileSync } from "node:fs";
import { options } from "../apps/cli/src/config/options.ts";
import { variables } from "../apps/cli/src/config/variables.ts";

const page = new URL("../docs/operate.md", import.meta.url);

const cell = (text) => text.replaceAll("|", "\\|");
const code = (text) => (text === undefined ? "" : `\`${cell(text)}\``);

function rowOf({ key, flag, variable, text, fallback, isSecret }) {
  const words = `${text}${isSecret ? ". A secret: not in the file" : ""}${fallback === undefined ? "" : `. Default: ${fallback}`}`;
  return `| ${code(key)} | ${code(flag)} | ${code(variable)} | ${cell(words)} |`;
}

const table = (head, rows) => [head, head.replaceAll(/[^|]+/g, "---"), ...rows].join("\n");

const tables = {
  settings: () => table("| key | flag | variable | |", options.map(rowOf)),
  variables: () =>
    table(
      "| variable | |",
      variables.map(({ name, text, isSecret }) => `| \`${name}\` | ${cell(text)}${isSecret ? ". A secret" : ""} |`),
    ),
};

/** The page with its tables as they should be. */
export const withSettings = (text) =>
  text.replace(
    /<!-- (settings|variables) -->\n[\s\S]*?<!-- \/\1 -->/g,
    (_, name) => `<!-- ${name} -->\n${tables[name]()}\n<!-- /${name} -->`,
  );

if (import.meta.main) writeFileSync(page, withSettings(readFileSync(page, "utf8")));
