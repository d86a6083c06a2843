import { resolve } from "node:path";
import { buildSkills, loadSkills, type Skill, type SkillReport, surveySkills } from "@loopwright/skills";
import { exitCodes } from "../exit-code.ts";
import { type SharedFlags, settingsWithSurvey } from "../flags.ts";
import { childEnvironment } from "../secrets/child-environment.ts";
import { remarksOf } from "../secrets/survey-secrets.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);

interface Surveyed {
  readonly skills: readonly Skill[];
  readonly reports: readonly SkillReport[];
  readonly folder: string;
}

/** Names of files of secrets count as set where they open; a file that stays closed is one line. */
async function survey(folder: string | undefined, flags: SharedFlags): Promise<Surveyed> {
  const { settings, reports: files } = await settingsWithSurvey({ ...flags, offline: true });
  for (const remark of remarksOf(files)) process.stderr.write(`${remark}\n`);
  const place = folder === undefined ? (settings.offered.skillsFolder ?? resolve("skills")) : resolve(folder);
  const skills = await loadSkills(place);
  return { skills, reports: await surveySkills(skills, await childEnvironment(settings)), folder: place };
}

/** Prints the skills of a folder. @throws AgentError CONFIG_INVALID */
export async function listSkills(
  folder: string | undefined,
  { json, ...flags }: SharedFlags & { readonly json?: boolean },
): Promise<number> {
  const { skills, reports } = await survey(folder, flags);
  for (const [at, { name, description, tools, egress }] of skills.entries()) {
    const lacks = reports[at]?.lacks ?? [];
    if (json === true) print(jsonLine({ name, description, tools: tools.map((tool) => tool.name), egress, lacks }));
    else
      print(
        `${name}  ${lacks.length === 0 ? "usable" : "left out"}  ${oneLine(description, 100)}${tools.length === 0 ? "" : `  (${tools.map((tool) => tool.name).join(", ")})`}`,
      );
  }
  return exitCodes.ok;
}

/** Prints what each skill lacks. @throws AgentError CONFIG_INVALID */
export async function checkSkills(folder: string | undefined, flags: SharedFlags): Promise<number> {
  const { reports } = await survey(folder, flags);
  for (const { name, lacks } of reports) {
    print(`${lacks.length === 0 ? "OK  " : "BAD "} ${name}`);
    for (const lack of lacks) print(`     ${oneLine(lack, 300)}`);
  }
  return reports.some(({ lacks }) => lacks.length > 0) ? exitCodes.failed : exitCodes.ok;
}

/** Writes the build of a folder. @throws AgentError CONFIG_INVALID, Error of the system where it cannot be written */
export async function buildFolder(folder: string | undefined, flags: SharedFlags): Promise<number> {
  const { skills, folder: place } = await survey(folder, flags);
  print(`${skills.length} skills in ${oneLine(await buildSkills(skills, place), 300)}`);
  return exitCodes.ok;
}
