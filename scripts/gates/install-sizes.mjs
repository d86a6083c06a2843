// Writes docs/install-sizes.md from fresh installs: `npm run install-sizes`.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { installFolders, nodeVersions } from "./install-folders.mjs";
import { SIZES_PAGE } from "./installs.mjs";
import { home } from "./tree.mjs";

const folders = installFolders(home);
const rows = folders.map(
  ({ title, packageCount, megabytes, ownPackageCount, ownMegabytes }) =>
    `| ${title} | ${packageCount} | ${megabytes.toFixed(2)} | ${ownPackageCount} | ${ownMegabytes.toFixed(2)} |`,
);
const page = `# What an install costs

Made by \`npm run install-sizes\`: the packed packages, installed by npm into empty folders. Every folder was then run on
Node.js ${nodeVersions.join(", ")}: every door imported, every command asked for its version, the README sample to its end.
MB are bytes of files in \`node_modules\`, in millions.

| installed | packages | MB | of these Loopwright's | MB |
|---|---|---|---|---|
${rows.join("\n")}
`;
mkdirSync(dirname(join(home, SIZES_PAGE)), { recursive: true });
writeFileSync(join(home, SIZES_PAGE), page);
for (const { title, problems } of folders) for (const problem of problems) console.error(`${title}: ${problem}`);
process.exitCode = folders.some(({ problems }) => problems.length > 0) ? 1 : 0;
