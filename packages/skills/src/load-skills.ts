import { createHash } from "node:crypto";
import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "@loopwright/core";
import { withBuiltRules } from "./built-skills.ts";
import { parseSkill } from "./parse-skill.ts";
import { type Skill, skillLimits } from "./skill.ts";

/** What scripts a tool may have, in this order. */
const scriptEndings: readonly string[] = [".sh", ".py", ".js", ".mjs"];

/**
 * The skills of a folder: each folder in it that has a `SKILL.md`, by name. The rules of a build (`buildSkills`) hold beside those of the files, which
 * need no build. @throws AgentError CONFIG_INVALID for the first skill that cannot be used
 */
export async function loadSkills(directory: string): Promise<readonly Skill[]> {
  const names = await foldersOf(directory);
  const skills: Skill[] = [];
  for (const name of names) {
    const skill = await loadSkill(join(directory, name), name);
    if (skill) skills.push(skill);
  }
  if (skills.length > skillLimits.skillsMax) throw invalid(directory, `it has more than ${skillLimits.skillsMax} skills`);
  const owners = new Map<string, string>([["read_skill", "the catalogue"]]);
  for (const skill of skills)
    for (const { name } of skill.tools) {
      const owner = owners.get(name);
      if (owner !== undefined) throw invalid(skill.directory, `its tool \`${name}\` is one of ${owner} too`);
      owners.set(name, `the skill \`${skill.name}\``);
    }
  return withBuiltRules(skills, directory);
}

async function foldersOf(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith(".") ? [entry.name] : [])).sort();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    throw invalid(directory, `the folder cannot be read (${code})`, cause);
  }
}

async function loadSkill(folder: string, name: string): Promise<Skill | undefined> {
  const file = join(folder, "SKILL.md");
  const stats = await lstat(file).catch(() => undefined);
  if (!stats) return undefined;
  if (!stats.isFile()) throw invalid(file, "it is no regular file");
  const text = await readFile(file, "utf8");
  const parsed = parseSkill(text, `\`${file}\``);
  if (parsed.name !== name) throw invalid(file, `its name is \`${parsed.name}\`, and its folder is \`${name}\``);
  const directory = await realpath(folder);
  const scripts = await Promise.all(parsed.tools.map(async (tool) => [tool.name, await scriptOf(directory, tool.name)] as const));
  return { ...parsed, directory, digest: createHash("sha256").update(text).digest("hex"), scripts: Object.fromEntries(scripts) };
}

async function scriptOf(directory: string, tool: string): Promise<string> {
  for (const ending of scriptEndings) {
    const path = join(directory, "scripts", `${tool}${ending}`);
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isFile()) return path;
    if (stats) throw invalid(path, "the script is no regular file");
  }
  throw invalid(directory, `its tool \`${tool}\` has no script: scripts/${tool} with one of ${scriptEndings.join(", ")}`);
}

const invalid = (place: string, what: string, cause?: unknown): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The skills in \`${place}\` cannot be used: ${what}.`,
    fix: "Correct it; docs/skills.md has the format.",
    cause,
  });
