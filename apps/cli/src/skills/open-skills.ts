import type { Agent } from "@loopwright/core";
import type { Skill, Skills, SkillsOptions } from "@loopwright/skills";
import type { Environment } from "../config/environment.ts";
import type { ConfigValues } from "../config/options.ts";
import { KeptLogin } from "../login/kept-login.ts";
import { loginPlace, loginSentinel } from "../login/openai-login.ts";
import type { Settings } from "../settings/settings.ts";

/** The skills of a folder, as agents of the command line have them. */
export interface OpenedSkills {
  /** The agent with what skills bring. */
  equip(agent: Agent): Agent;
  /** The agent with the guardrails of skills behind all other hooks. */
  guard(agent: Agent): Agent;
  /** What those that can be used are called, and what they are for. */
  readonly offered: readonly Pick<Skill, "name" | "description">[];
  /** A line for each skill that is left out, with what it lacks. */
  readonly warnings: readonly string[];
}

/** The skills that the settings name; scripts get `environment` as far as their skill names variables. @throws AgentError CONFIG_INVALID */
export async function openSkills(settings: Settings, environment: Environment): Promise<OpenedSkills> {
  const { offered, filesDirectory, configuration, model } = settings;
  const { skillsFolder } = offered;
  if (skillsFolder === undefined) return { equip: (agent) => agent, guard: (agent) => agent, offered: [], warnings: [] };
  const { createSkills, loadSkills } = await import("@loopwright/skills");
  const loaded = await loadSkills(skillsFolder);
  const skills = await createSkills({
    skills: loaded,
    environment,
    directory: filesDirectory,
    ...(await scriptVariables(environment, model)),
  });
  const usable = loaded.filter((_, at) => skills.reports[at]?.lacks.length === 0);
  return { equip: skills.equip, guard: await guardOf(skills, configuration.values), offered: usable, warnings: linesOf(skills) };
}

/** Scripts get the tokens of a login where the key is its mark. */
async function scriptVariables(environment: Environment, model: string | undefined): Promise<Pick<SkillsOptions, "variablesFor">> {
  if (environment["OPENAI_API_KEY"] !== loginSentinel) return {};
  const [{ openai }, { loginVariables }] = await Promise.all([
    import("@loopwright/providers-openai"),
    import("../login/login-variables.ts"),
  ]);
  return { variablesFor: loginVariables(new KeptLogin(loginPlace(environment)), model ?? openai().defaultModel) };
}

async function guardOf(
  { rules }: Skills,
  { guardrails, enforceGuardrails: enforce = true }: ConfigValues,
): Promise<(agent: Agent) => Agent> {
  if (guardrails === false || Object.keys(rules).length === 0) return (agent) => agent;
  const { skillGuardrailHooks } = await import("@loopwright/guardrails");
  const hooks = skillGuardrailHooks(rules, { enforce });
  return (agent) => Object.freeze({ ...agent, hooks: [...agent.hooks, hooks] });
}

const linesOf = ({ reports }: Skills): readonly string[] =>
  reports.flatMap(({ name, lacks }) => (lacks.length === 0 ? [] : [`The skill ${name} is left out. ${lacks.join(" ")}`]));
