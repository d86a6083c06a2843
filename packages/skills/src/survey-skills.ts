import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { Variables } from "@loopwright/tools-cli";
import type { Skill } from "./skill.ts";

/** What a skill lacks on this machine. */
export interface SkillReport {
  readonly name: string;
  /** Each as a sentence: a program that is not on the `PATH`, a variable that is not set. Empty: it can be used. */
  readonly lacks: readonly string[];
}

/** The absolute path of a program on the `PATH` of these variables. Relative folders of it are left out. */
export async function findProgram(name: string, { PATH: path = "" }: Variables): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const place = join(folder, name);
    const isThere = await access(place, constants.X_OK).then(
      async () => (await stat(place)).isFile(),
      () => false,
    );
    if (isThere) return place;
  }
  return undefined;
}

const interpreters: Readonly<Record<string, string>> = { sh: "sh", py: "python3" };

/** The program that runs a script. Absent: it is not on the `PATH`. */
export function interpreterOf(script: string, environment: Variables): Promise<string | undefined> {
  const name = interpreters[script.split(".").at(-1) ?? ""];
  return name === undefined ? Promise.resolve(process.execPath) : findProgram(name, environment);
}

/** What each skill lacks with these variables. Values are never read, only whether they are set. */
export async function surveySkills(skills: readonly Skill[], environment: Variables): Promise<readonly SkillReport[]> {
  return Promise.all(skills.map(async (skill) => ({ name: skill.name, lacks: await lacksOf(skill, environment) })));
}

async function lacksOf({ needs, scripts }: Skill, environment: Variables): Promise<readonly string[]> {
  const isSet = (name: string): boolean => (environment[name] ?? "") !== "";
  const lacks: string[] = [];
  for (const binary of needs.binaries)
    if ((await findProgram(binary, environment)) === undefined) lacks.push(`The program \`${binary}\` is not on the PATH.`);
  for (const [tool, script] of Object.entries(scripts))
    if ((await interpreterOf(script, environment)) === undefined)
      lacks.push(`The interpreter of the script of \`${tool}\` is not on the PATH.`);
  for (const name of needs.required) if (!isSet(name)) lacks.push(`The variable \`${name}\` is not set.`);
  for (const names of needs.oneOf)
    if (!names.some(isSet)) lacks.push(`None of the variables ${names.map((name) => `\`${name}\``).join(", ")} is set.`);
  return lacks;
}
