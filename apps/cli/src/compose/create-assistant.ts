import { contextEngine } from "@loopwright/context";
import { type Agent, createAgent, type Tool } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { prices } from "@loopwright/prices";
import { builtinTools } from "@loopwright/tools-builtin";
import { fileTools } from "@loopwright/tools-files";
import { askUserTool } from "./ask-user-tool.ts";

const prompt = (surface: AssistantSurface): string =>
  [
    `You are a helpful assistant in a ${surface}. Answer in Markdown, short and to the point.`,
    "Use the tools where they give a better answer than memory: time, arithmetic, ids, JSON and CSV, and files in the working folder.",
  ].join(" ");

/** Where people read the assistant's answers. */
export type AssistantSurface = "terminal" | "web page";

/** What the assistant is made for. */
export interface AssistantOptions {
  readonly provider: ModelProvider;
  readonly filesDirectory: string;
  /** Whether a person can answer questions in the terminal. */
  readonly isAttended: boolean;
  /** Default: the terminal. */
  readonly surface?: AssistantSurface;
  /** The user's own tools; one of the same name takes the place of ours. */
  readonly ownTools: readonly Tool[];
}

/** The agent of the command line: small tools, files, and a question to the user where one is there. */
export function createAssistant({ provider, filesDirectory, isAttended, ownTools, surface = "terminal" }: AssistantOptions): Agent {
  const ours: readonly Tool[] = [...builtinTools(), ...fileTools({ directory: filesDirectory }), ...(isAttended ? [askUserTool] : [])];
  const tools = [...ours.filter((tool) => !ownTools.some((own) => own.name === tool.name)), ...ownTools];
  return createAgent({
    name: "assistant",
    provider,
    prompt: prompt(surface),
    tools,
    context: contextEngine(),
    prices: prices(),
    files: { directory: filesDirectory },
  });
}
