// Writes docs/coverage.md from the titles of the tests: `node scripts/write-coverage.mjs`. Its test compares.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { coverage, rows } from "./coverage-rows.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const DESIGNS = {
  A: "An assistant inside a product",
  B: "An orchestrator of agents and tools",
  C: "A runtime for operators",
  D: "A session API",
};

const PAYLOADS = {
  T: "Payloads against tenants and identity",
  H: "Payloads of browsers and over HTTP",
  K: "Payloads against secrets",
  P: "Payloads in paths",
  X: "Payloads of programs that agents run",
  M: "Payloads in prompts, tools and memory",
};

const OPENING = `# Which rows have tests

Loopwright unites four designs. Each capability of theirs is a row with an id, and a test that checks a row has the id in its title. This page
lists for each row the files of those tests. A row without a file may work, but no test carries its id. Below them are the payloads of security tests; of these
none may be without a test.

\`node scripts/write-coverage.mjs\` writes this page from the titles. A test fails when a file that it lists no longer has a test of the row; rows
that get their first test appear when the page is written again.
`;

const link = (file) => `[${file.split("/").at(-1)}](../${file})`;

function section(titles, letter, files) {
  const ids = Object.keys(rows).filter((id) => id.startsWith(letter));
  const covered = ids.filter((id) => files[id].length > 0);
  const open = ids.filter((id) => files[id].length === 0);
  const line = (id) => `| ${id} | ${rows[id].replaceAll("|", "/")} | ${files[id].map(link).join(", ") || "-"} |`;
  return `
## ${letter}: ${titles[letter]}

${covered.length} of ${ids.length} ${titles === PAYLOADS ? "payloads" : "rows"} have a test.${open.length > 0 ? ` Without one: ${open.join(", ")}.` : ""}

| ${titles === PAYLOADS ? "payload" : "row"} | what | tests |
|---|---|---|
${ids.map(line).join("\n")}
`;
}

/** The page as it should be. */
export function coverageDocs() {
  const files = coverage(root);
  return OPENING + [DESIGNS, PAYLOADS].flatMap((titles) => Object.keys(titles).map((letter) => section(titles, letter, files))).join("");
}

if (import.meta.main) writeFileSync(new URL("../docs/coverage.md", import.meta.url), coverageDocs());
