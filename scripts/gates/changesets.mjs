// A change that users of a package see comes with a changeset.
// Compared is with LOOPWRIGHT_BASE, else with origin/main; where that is the same commit or unknown, every unreleased package counts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, published, tool, workspaces } from "./tree.mjs";

const UNRELEASED = "0.0.0";

/** Names of packages in the front matter of the pending changesets. */
function pending(root) {
  const files = filesBelow(root, ".changeset").filter((file) => file.endsWith(".md") && !file.endsWith("README.md"));
  return files.map((file) => ({
    file,
    names: [...readFileSync(join(root, file), "utf8").matchAll(/^["']?([^"'\n]+?)["']?: *(?:major|minor|patch) *$/gm)].map(
      ([, name]) => name,
    ),
  }));
}

/** Paths changed since the base, or undefined when there is none to compare with. */
function changedFiles(root) {
  const git = (...args) => tool("git", args, root);
  const base = git("merge-base", "HEAD", process.env.LOOPWRIGHT_BASE ?? "origin/main");
  if (base.code !== 0 || base.stdout === git("rev-parse", "HEAD").stdout) return undefined;
  return git("diff", "--name-only", base.stdout.trim()).stdout.split("\n");
}

async function check(root) {
  const changed = changedFiles(root);
  const visible = ({ folder, manifest }) =>
    changed?.some((file) => file.startsWith(`${folder}/src/`) && !/\.test(-d)?\.tsx?$/.test(file)) ?? manifest.version === UNRELEASED;
  const changesets = pending(root);
  const named = new Set(changesets.flatMap(({ names }) => names));
  const known = new Set(workspaces(root).map(({ manifest }) => manifest.name));
  const problems = [
    ...published(root)
      .filter((workspace) => visible(workspace) && !named.has(workspace.manifest.name))
      .map(({ manifest }) => `${manifest.name}: changed without a changeset; run npm run changeset`),
    ...changesets.flatMap(({ file, names }) =>
      names.filter((name) => !known.has(name)).map((name) => `${file}: names no package: ${name}`),
    ),
  ];
  return {
    problems,
    seen: `${changesets.length} changesets, ${changed ? `${changed.length} changed files` : "no base: all unreleased packages"}`,
  };
}

const library = (name, version) => ({ [`packages/${name}/package.json`]: JSON.stringify({ name, version }) });

export const changesets = {
  name: "changesets",
  check,
  sound: {
    ...library("fine", UNRELEASED),
    ...library("released", "1.0.0"),
    ".changeset/one.md": '---\n"fine": minor\n---\n\nBegins.\n',
  },
  planted: [
    { title: "a package without a changeset", files: library("silent", UNRELEASED), expects: /^silent: changed without a changeset/ },
    {
      title: "a changeset for no package",
      files: { ".changeset/two.md": "---\nnobody: patch\n---\n" },
      expects: /two\.md: names no package: nobody/,
    },
  ],
};
