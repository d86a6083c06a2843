import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "@loopwright/core";
import { z } from "zod";
import type { Skill, SkillRule, SkillRules } from "./skill.ts";

const fileName = "skills.json";
const rules = z.array(z.object({ pattern: z.string(), reply: z.string().optional(), action: z.literal(["block", "redact"]).optional() }));
const schema = z.object({
  version: z.literal(1),
  skills: z.array(
    z.object({
      name: z.string(),
      digest: z.string(),
      rules: z.object({ denyCommands: rules, denyOutput: rules, denyPrompts: rules, denyResponses: rules }),
    }),
  ),
});

/** Writes `skills.json`: of each skill the digest of its file and its rules. Returns the path. A later change of a file takes no rule of the build away. */
export async function buildSkills(skills: readonly Skill[], directory: string): Promise<string> {
  const path = join(directory, fileName);
  const fresh = `${path}.${process.pid}`;
  await writeFile(
    fresh,
    `${JSON.stringify({ version: 1, skills: skills.map(({ name, digest, rules: own }) => ({ name, digest, rules: own })) }, null, 2)}\n`,
  );
  await rename(fresh, path);
  return path;
}

/** The skills with the rules of the build beside their own. Without a build they have their own. @throws AgentError CONFIG_INVALID for a build that cannot be read */
export async function withBuiltRules(skills: readonly Skill[], directory: string): Promise<readonly Skill[]> {
  const built = await builtRules(directory);
  return skills.map((skill) => {
    const others = built.get(skill.name);
    return others ? { ...skill, rules: unionOf(skill.rules, others) } : skill;
  });
}

async function builtRules(directory: string): Promise<ReadonlyMap<string, SkillRules>> {
  const path = join(directory, fileName);
  try {
    const { skills } = schema.parse(JSON.parse(await readFile(path, "utf8")));
    return new Map(skills.map(({ name, rules: own }) => [name, own]));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return new Map();
    throw new AgentError("CONFIG_INVALID", {
      message: `The build of skills in \`${path}\` cannot be used.`,
      fix: "Run `loopwright skills build` again, or remove it.",
      cause,
    });
  }
}

function unionOf(one: SkillRules, other: SkillRules): SkillRules {
  const both = (first: readonly SkillRule[], second: readonly SkillRule[]): readonly SkillRule[] => [
    ...first,
    ...second.filter((rule) => !first.some((known) => JSON.stringify(known) === JSON.stringify(rule))),
  ];
  return {
    denyCommands: both(one.denyCommands, other.denyCommands),
    denyOutput: both(one.denyOutput, other.denyOutput),
    denyPrompts: both(one.denyPrompts, other.denyPrompts),
    denyResponses: both(one.denyResponses, other.denyResponses),
  };
}
