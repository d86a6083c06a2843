import type { Access, Labels } from "../loop/fact.ts";
import type { Message } from "../message/message.ts";
import type { SystemPart } from "../ports/model-provider.ts";

/** What the system prompt may depend on. */
export interface PromptContext {
  /** The user whose input the run answers. */
  readonly access: Access;
  /** The id of the session. */
  readonly sessionId: string;
  /** The number of the model call in the run, from 1. */
  readonly turn: number;
  /** The conversation when the prompt is built. Frozen: it does not change later. */
  readonly messages: readonly Message[];
  /** Labels of the input that the run answers. Labels of the user are in `access`. */
  readonly labels: Labels;
}

/** One part of an agent's system prompt. Parts of equal `cache` keep their order; stable ones come first. */
export interface PromptLayer {
  /** Built for each model call if it is a function; a blank text is left out. */
  readonly text: string | ((context: PromptContext) => string | undefined | Promise<string | undefined>);
  /** Where the text comes from, for logs. Default `agent`. */
  readonly source?: string;
  /** Whether the text is the same in all sessions of the agent. Default: `stable` for a string, `session` for a function. */
  readonly cache?: SystemPart["cache"];
}

/** A text, a function that builds it for each model call, or layers of both. */
export type AgentPrompt = string | ((context: PromptContext) => string | Promise<string>) | readonly PromptLayer[];

/** The prompt as layers. */
export function promptLayers(prompt: AgentPrompt | undefined): readonly PromptLayer[] {
  if (prompt === undefined) return [];
  return typeof prompt === "string" || typeof prompt === "function" ? [{ text: prompt }] : prompt;
}
