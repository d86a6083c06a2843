// Reading a workspace, and building small ones in a temporary folder for the gates' own tests.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of this repository: where the tools are installed. */
export const home = join(dirname(fileURLToPath(import.meta.url)), "../..");

export const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

const skipped = new Set(["node_modules", "dist", ".turbo", ".git", "coverage"]);

/** Every file below `folder`, as paths from `root` with forward slashes, sorted; build products only when `all` is set. */
export function filesBelow(root, folder = ".", { all = false } = {}) {
  const start = join(root, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return !all && skipped.has(entry.name) ? [] : filesBelow(root, path, { all });
      return entry.isFile() ? [path.split(sep).join("/")] : [];
    })
    .sort();
}

const isTest = (file) => /\.(test|test-d)\.tsx?$/.test(file);

/** TypeScript sources of packages and apps, without tests. */
export function sources(root) {
  return ["packages", "apps"]
    .flatMap((group) => filesBelow(root, group))
    .filter((file) => /^[^/]+\/[^/]+\/src\/.*\.tsx?$/.test(file) && !isTest(file));
}

/** Folders of `packages/` and `apps/`, each with its manifest. */
export function workspaces(root) {
  return ["packages", "apps"].flatMap((group) =>
    existsSync(join(root, group))
      ? readdirSync(join(root, group))
          .sort()
          .map((name) => `${group}/${name}`)
          .filter((folder) => existsSync(join(root, folder, "package.json")))
          .map((folder) => ({ folder, manifest: readJson(join(root, folder, "package.json")) }))
      : [],
  );
}

export const published = (root) => workspaces(root).filter(({ manifest }) => manifest.private !== true);

/** Tracked files; outside a repository all of them. */
export function trackedFiles(root) {
  if (!existsSync(join(root, ".git"))) return filesBelow(root);
  return execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 })
    .split("\0")
    .filter((file) => file !== "" && existsSync(join(root, file)));
}

/** Runs a tool to its end and gives back its exit code and everything it sent. */
export function tool(command, args, cwd, options = {}) {
  const result = spawnSync(command, args, { cwd, encoding: "utf8", maxBuffer: 64 * 1024 * 1024, ...options });
  if (result.error) throw result.error;
  return { code: result.status ?? 1, stdout: result.stdout, output: `${result.stdout}${result.stderr}`.trim() };
}

/** As `tool`, beside what else this process does. */
export function toolBeside(command, args, cwd, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], ...options });
    const [stdout, stderr] = [[], []];
    child.stdout.on("data", (piece) => stdout.push(piece));
    child.stderr.on("data", (piece) => stderr.push(piece));
    child.on("error", reject);
    child.on("close", (code) => {
      const [out, error] = [stdout, stderr].map((pieces) => Buffer.concat(pieces).toString("utf8"));
      resolve({ code: code ?? 1, stdout: out, output: `${out}${error}`.trim() });
    });
  });
}

/** Path of a tool of this repository. */
export const bin = (name) => join(home, "node_modules", ".bin", name);

/** A file that is a symbolic link to `target` (relative to the link, or absolute). */
export const link = (target) => ({ link: target });

/** Runs `work` on a temporary folder that holds `files` (path -> text, or a link), and removes it. */
export async function inTemporaryTree(files, work) {
  const root = mkdtempSync(join(tmpdir(), "loopwright-gate-"));
  try {
    for (const [path, content] of Object.entries(files)) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      if (typeof content === "string") writeFileSync(file, content);
      else symlinkSync(content.link, file);
    }
    return await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

export const fromRoot = (root, file) => relative(root, file).split(sep).join("/");
