import { contextEngine } from "@loopwright/context";
import { type Agent, createAgent, type Hooks, type ModelRef, type PromptLayer, type Tool } from "@loopwright/core";
import type { ContextEngine } from "@loopwright/core/ports";
import { prices } from "@loopwright/prices";
import { builtinTools } from "@loopwright/tools-builtin";
import { fileTools } from "@loopwright/tools-files";
import type { UserSettingsStore } from "@loopwright/user-settings";
import { askUserTool } from "./ask-user-tool.ts";

/** The prompt of the agents that talk to a person. */
export const assistantPrompt = (surface: AssistantSurface): string =>
  [
    `You are a helpful assistant in a ${surface}. Answer in Markdown, short and to the point.`,
    "Use the tools where they give a better answer than memory: time, arithmetic, ids, JSON and CSV, and files in the working folder.",
  ].join(" ");

/** Where people read the assistant's answers. */
export type AssistantSurface = "terminal" | "web page";

/** What the tools of the assistant depend on. */
export interface AssistantTools {
  readonly filesDirectory: string;
  /** Whether a person can answer questions in the terminal. */
  readonly isAttended: boolean;
  /** Tools beside ours; one of the same name takes the place of ours. */
  readonly ownTools: readonly Tool[];
}

/** What the assistant is made for. */
export interface AssistantOptions extends AssistantTools {
  /** Default: that of `@loopwright/context`. */
  readonly context?: ContextEngine;
  /** Hooks beside the assistant's own. */
  readonly hooks?: readonly Hooks[];
  /** The one that is called first, and its fallbacks. */
  readonly model: readonly ModelRef[];
  /** Default: the terminal. */
  readonly surface?: AssistantSurface;
  /** What users have set, read before each call. */
  readonly preferences?: UserSettingsStore;
}

/** Small tools, files, a question to the user where one is there, and `ownTools`. */
export function assistantTools({ filesDirectory, isAttended, ownTools }: AssistantTools): readonly Tool[] {
  const ours: readonly Tool[] = [...builtinTools(), ...fileTools({ directory: filesDirectory }), ...(isAttended ? [askUserTool] : [])];
  return [...ours.filter((tool) => !ownTools.some((own) => own.name === tool.name)), ...ownTools];
}

/** The agent of the command line: small tools, files, and a question to the user where one is there. */
export function createAssistant({
  model,
  preferences,
  surface = "terminal",
  context = contextEngine(),
  hooks = [],
  ...options
}: AssistantOptions): Agent {
  return createAgent({
    name: "assistant",
    model,
    prompt: [{ text: assistantPrompt(surface) }, ...(preferences ? wishesOf(preferences) : [])],
    tools: assistantTools(options),
    context,
    prices: prices(),
    files: { directory: options.filesDirectory },
    hooks: [toolsWhereWanted, ...hooks],
  });
}

/** An input whose label `toolsRequired` is `false` is answered without tools. The main thread and the agents of a web have the same in their plan. */
const toolsWhereWanted: Hooks = {
  name: "tools-where-wanted",
  prepare: ({ labels }) => (labels["toolsRequired"] === "false" ? { tools: [] } : undefined),
};

/** What the user has set, as parts of the prompt. */
function wishesOf(preferences: UserSettingsStore): readonly PromptLayer[] {
  return [
    {
      source: "personalization",
      async text({ access }) {
        const { enabled, text } = (await preferences.settingsOf(access)).personalization;
        return enabled && text.trim() !== "" ? `How this user wants to be answered:\n${text}` : undefined;
      },
    },
    {
      source: "project",
      async text({ access }) {
        const { projectRule } = await preferences.settingsOf(access);
        return projectRule === undefined ? undefined : `A rule of this user for all conversations:\n${projectRule}`;
      },
    },
  ];
}
