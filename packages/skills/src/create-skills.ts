import { mkdir, realpath } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, sep } from "node:path";
import {
  type Agent,
  AgentError,
  defineTool,
  type JsonObject,
  type PromptLayer,
  type Tool,
  type ToolContext,
  type ToolEvent,
} from "@loopwright/core";
import { type CliLimits, childVariables, defaultCliLimits, findIsolation, programOutput, type Variables } from "@loopwright/tools-cli";
import { createSessionTools, type SessionTools } from "@loopwright/tools-registry";
import { z } from "zod";
import { type Skill, type SkillRules, type SkillToolSpec, skillLimits } from "./skill.ts";
import { findProgram, interpreterOf, type SkillReport, surveySkills } from "./survey-skills.ts";

export interface SkillsOptions {
  readonly skills: readonly Skill[];
  /** Where variables and programs that skills name are found. Default: none are, so that a skill that needs one is left out. */
  readonly environment?: Variables;
  /** What a script gets in place of these variables, which its skill names; asked just before each run, for example for a token that ends. Default: the same. */
  readonly variablesFor?: (variables: Readonly<Record<string, string>>) => Promise<Readonly<Record<string, string>>>;
  /** Absolute path of the directory in which scripts run. Default: `context.files` of the call. */
  readonly directory?: string;
  /** Of each run of a script; `durationMs` of a skill holds where it is shorter. */
  readonly limits?: Partial<CliLimits>;
  /** Whether a person must allow each run of a script. Default true. */
  readonly approval?: boolean;
}

/** Skills that an agent can use. */
export interface Skills {
  /** What each skill lacks; those that lack something are in neither catalogue nor tools. */
  readonly reports: readonly SkillReport[];
  /** For `skillGuardrailHooks` of the guardrails: the rules of all skills, by name, of those that lack something too. */
  readonly rules: Readonly<Record<string, SkillRules>>;
  /** The agent with the catalogue in its prompt, `read_skill`, and the tools of a skill once it has been read. @throws AgentError CONFIG_INVALID for a name that it has */
  equip<Output>(agent: Agent<Output>): Agent<Output>;
}

/** Skills for agents. @throws AgentError CONFIG_INVALID for a directory or a limit that cannot be used */
export async function createSkills(options: SkillsOptions): Promise<Skills> {
  const { skills, environment = {}, directory } = options;
  if (directory !== undefined && !isAbsolute(directory)) throw invalid("`directory` is not an absolute path.", "Pass an absolute path.");
  const reports = await surveySkills(skills, environment);
  const usable = skills.filter((_, at) => reports[at]?.lacks.length === 0);
  const limits: CliLimits = { ...defaultCliLimits, ...options.limits };
  const runners = usable.flatMap((skill) => skill.tools.map((spec) => scriptTool(spec, skill, { ...options, environment, limits })));
  const list: SessionTools = createSessionTools({
    name: "skills",
    sources: { skills: [readSkill(usable, () => list), ...runners] },
    first: () => ["read_skill"],
  });
  return {
    reports,
    rules: Object.fromEntries(skills.map(({ name, rules }) => [name, rules])),
    equip(agent) {
      if (usable.length === 0) return agent;
      const taken = agent.tools.find(({ name }) => list.get(name));
      if (taken) throw invalid(`The agent \`${agent.name}\` has a tool \`${taken.name}\`, and a skill has one too.`, "Rename one of them.");
      return Object.freeze({
        ...agent,
        prompt: [...layersOf(agent.prompt), catalogue(usable)],
        tools: [...agent.tools, ...list.tools],
        hooks: [list.hooks, ...agent.hooks],
      });
    },
  };
}

function layersOf(prompt: Agent["prompt"]): readonly PromptLayer[] {
  if (prompt === undefined) return [];
  return typeof prompt === "string" || typeof prompt === "function" ? [{ text: prompt }] : prompt;
}

function catalogue(skills: readonly Skill[]): PromptLayer {
  const lines = skills.map(({ name, description }) => `- ${name}: ${description.replaceAll(/\s+/g, " ")}`);
  return {
    source: "skills",
    text: ["# Skills", "Read a skill with `read_skill` before you do what it is for. Its tools join yours then.", ...lines].join("\n"),
  };
}

function readSkill(skills: readonly Skill[], list: () => SessionTools): Tool {
  const names = skills.map(({ name }) => name);
  return defineTool({
    name: "read_skill",
    label: "Read a skill",
    description: "Gives the instructions of a skill of the catalogue, and adds its tools to yours.",
    parameters: z.strictObject({ skill: z.string().describe("Its name, as the catalogue has it.") }),
    replay: "idempotent",
    execute({ skill: name }, context) {
      const skill = skills.find((one) => one.name === name);
      if (!skill)
        throw new AgentError("TOOL_ARGUMENTS", { message: "There is no skill of this name.", fix: `Use one of: ${names.join(", ")}.` });
      list()
        .of(context)
        .register("read_skill", ...skill.tools.map((tool) => tool.name));
      return skill.body === "" ? skill.description : skill.body;
    },
  });
}

interface ScriptSettings extends Pick<SkillsOptions, "directory" | "approval" | "variablesFor"> {
  readonly environment: Variables;
  readonly limits: CliLimits;
}

const timeToEndMs = 15_000;

function scriptTool({ name, description, parameters }: SkillToolSpec, skill: Skill, settings: ScriptSettings): Tool {
  const limits = { ...settings.limits, durationMs: Math.min(settings.limits.durationMs, skill.durationMs ?? Number.MAX_SAFE_INTEGER) };
  return defineTool({
    ...{ name, description, parameters },
    label: `${skill.name}: ${name}`,
    timeoutMs: limits.durationMs + timeToEndMs,
    sequential: true,
    ...(settings.approval === false ? {} : { approval: `Runs a script of the skill ${skill.name}.` as const }),
    async *execute(args: JsonObject, context): AsyncGenerator<ToolEvent, void> {
      yield* programOutput(name, await prepare({ name, skill, args, context }, { ...settings, limits }));
    },
  }) as Tool;
}

interface ScriptCall {
  readonly name: string;
  readonly skill: Skill;
  readonly args: JsonObject;
  readonly context: Pick<ToolContext, "files" | "signal">;
}

async function prepare(
  { name, skill, args, context }: ScriptCall,
  { environment, limits, ...settings }: ScriptSettings,
): Promise<Parameters<typeof programOutput>[1]> {
  const argument = JSON.stringify(args);
  if (Buffer.byteLength(argument) > skillLimits.argumentBytesMax)
    throw new AgentError("TOOL_ARGUMENTS", {
      message: `The arguments of \`${name}\` have more than ${skillLimits.argumentBytesMax} bytes.`,
      fix: "Pass less.",
    });
  const script = skill.scripts[name] ?? "";
  const wished = settings.directory ?? context.files?.directory;
  if (wished === undefined || !isAbsolute(wished))
    throw invalid("Scripts of skills have no directory to run in.", "Pass `directory`, or give the agent `files`.");
  await mkdir(wished, { recursive: true, mode: 0o700 });
  const [directory, interpreter] = [await realpath(wished), await interpreterOf(script, environment)];
  if (interpreter === undefined) throw invalid(`The interpreter of \`${name}\` is not on the PATH.`, "Install it.");
  if (script.startsWith(directory + sep))
    throw invalid(`The script of \`${name}\` lies in the directory in which it runs.`, "Keep skills elsewhere: an agent could replace it.");
  const { binaries, required, oneOf, optional } = skill.needs;
  const named = childVariables(environment, ["OPENAI_ORG_ID", ...required, ...oneOf.flat(), ...optional]);
  const variables = (await settings.variablesFor?.(named)) ?? named;
  // What it needs may be installed outside of the folders of the system.
  const places = (await Promise.all(binaries.map((binary) => findProgram(binary, environment)))).flatMap((place) =>
    place ? [dirname(place)] : [],
  );
  return {
    path: interpreter,
    args: [script, argument],
    directory,
    variables: { ...variables, PATH: [...new Set([...places, ...(variables["PATH"] ?? "").split(delimiter)])].join(delimiter) },
    limits,
    isolation: await findIsolation(),
    network: skill.egress.length > 0,
    signal: context.signal,
  };
}

const invalid = (message: string, fix: string): AgentError => new AgentError("CONFIG_INVALID", { message, fix });
