import type { JsonSchema } from "@loopwright/core";

/** A pattern of a skill, in the syntax of RE2, and what is answered in its place. */
export interface SkillRule {
  readonly pattern: string;
  readonly reply?: string | undefined;
  /** Of output alone. Default `block`. */
  readonly action?: "block" | "redact" | undefined;
}

/** What a skill forbids: the lists that `skillGuardrailHooks` of the guardrails takes. */
export interface SkillRules {
  readonly denyCommands: readonly SkillRule[];
  readonly denyOutput: readonly SkillRule[];
  readonly denyPrompts: readonly SkillRule[];
  readonly denyResponses: readonly SkillRule[];
}

/** A tool that a heading of a skill declares. */
export interface SkillToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** What a skill needs of the machine. */
export interface SkillNeeds {
  /** Names of programs on the `PATH`. */
  readonly binaries: readonly string[];
  /** Variables that must be set; of each list of `oneOf` one must be; `optional` ones are handed on where they are set. */
  readonly required: readonly string[];
  readonly oneOf: readonly (readonly string[])[];
  readonly optional: readonly string[];
}

/** What a `SKILL.md` has. */
export interface SkillText {
  readonly name: string;
  readonly description: string;
  /** The Markdown below the front matter. */
  readonly body: string;
  readonly tools: readonly SkillToolSpec[];
  readonly needs: SkillNeeds;
  readonly rules: SkillRules;
  /** Domains that its scripts reach. None: they have no network. */
  readonly egress: readonly string[];
  /** Milliseconds that a script may run. */
  readonly durationMs: number | undefined;
}

/** A skill in its folder. */
export interface Skill extends SkillText {
  /** Absolute path of its folder. */
  readonly directory: string;
  /** Of each tool the file that runs it, by the name of the tool. */
  readonly scripts: Readonly<Record<string, string>>;
  /** SHA-256 of the file. */
  readonly digest: string;
}

/** Limits of skills. */
export const skillLimits: {
  readonly textMax: number;
  readonly skillsMax: number;
  readonly toolsMax: number;
  readonly argumentBytesMax: number;
} = {
  /** Characters of one `SKILL.md`. */
  textMax: 90_000,
  /** Skills in one folder. */
  skillsMax: 200,
  /** Tools of one skill. */
  toolsMax: 32,
  /** Bytes of the one argument of a script; Linux takes no argument above 128 KiB. */
  argumentBytesMax: 120_000,
};
