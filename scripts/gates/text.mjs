// Tracked text that would tie the repository to one machine or one registry.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { trackedFiles } from "./tree.mjs";

const LOCKFILE = "pnpm-lock.yaml";

// Put together from pieces, so that this file does not hold what it looks for.
const FORBIDDEN = [
  ["a path of a machine", new RegExp(`(?<![\\w.~)}:-])/(${["work", "root", "farm"].join("|")})/`)],
  ["a path of a machine", new RegExp(`(?<![\\w.~)}:-])/(${["home", "Users"].join("|")})/(?!me/|you/|user/)[a-z]`)],
  [
    "a registry host",
    new RegExp(
      `(${[
        ["registry", "npmjs"],
        ["registry", "yarnpkg"],
        ["deb", "debian"],
        ["npm", "pkg\\.github"],
      ]
        .map((pair) => pair.join("\\."))
        .join("|")})`,
    ),
  ],
];

async function check(root) {
  const problems = [];
  const files = trackedFiles(root);
  for (const file of files) {
    const bytes = readFileSync(join(root, file));
    if (bytes.includes(0)) continue;
    bytes
      .toString("utf8")
      .split("\n")
      .forEach((line, index) => {
        for (const [what, pattern] of FORBIDDEN) if (pattern.test(line)) problems.push(`${file}:${index + 1}: ${what}`);
        if (file === LOCKFILE && /https?:/.test(line)) problems.push(`${file}:${index + 1}: a URL`);
      });
  }
  if (!existsSync(join(root, LOCKFILE))) problems.push(`${LOCKFILE}: is missing`);
  return { problems, seen: `${files.length} files` };
}

export const text = {
  name: "text",
  check,
  sound: {
    [LOCKFILE]: "lockfileVersion: '9.0'\nintegrity: sha512-x\n",
    "docs/a.md": "See ./work/a and packages/root/x, https://example.com/work/ and ~/work/.\n",
  },
  planted: [
    { title: "a URL in the lockfile", files: { [LOCKFILE]: "tarball: https://example.com/x.tgz\n" }, expects: /pnpm-lock\.yaml:1: a URL/ },
    { title: "a path of a machine", files: { "docs/b.md": `cd ${["", "work", "main"].join("/")}\n` }, expects: /docs\/b\.md:1: a path/ },
    { title: "a home folder", files: { "docs/c.md": `\n"${["", "home", "ann", "x"].join("/")}"\n` }, expects: /docs\/c\.md:2: a path/ },
    {
      title: "a registry host",
      files: { ".npmrc": `registry=https://${["registry", "npmjs", "org"].join(".")}\n` },
      expects: /\.npmrc:1: a registry host/,
    },
  ],
};
