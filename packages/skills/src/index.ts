/** Skills in the open Agent Skills format. */
export { buildSkills } from "./built-skills.ts";
export { createSkills, type Skills, type SkillsOptions } from "./create-skills.ts";
export { loadSkills } from "./load-skills.ts";
export { parseSkill } from "./parse-skill.ts";
export type { Skill, SkillNeeds, SkillRule, SkillRules, SkillText, SkillToolSpec } from "./skill.ts";
export { type SkillReport, surveySkills } from "./survey-skills.ts";
