import type { Access, Labels } from "../loop/fact.ts";
import type { Message } from "../message/message.ts";
import type { SystemPart } from "../ports/model-provider.ts";

/** What the system prompt may depend on. */
export interface PromptContext {
  /** Of the caller whose input the run answers. */
  readonly access: Access;
  /** The id of the session. */
  readonly sessionId: string;
  /** From 1: which model call of the run. */
  readonly turn: number;
  /** The conversation when the prompt is asked for. Frozen: it does not change later. */
  readonly messages: readonly Message[];
  /** Of the input that the run answers. Those of the user stand in `access`. */
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

/** A text, what builds it for each model call, or several of both. */
export type AgentPrompt = string | ((context: PromptContext) => string | Promise<string>) | readonly PromptLayer[];

/** The prompt as layers. */
export function promptLayers(prompt: AgentPrompt | undefined): readonly PromptLayer[] {
  if (prompt === undefined) return [];
  return typeof prompt === "string" || typeof prompt === "function" ? [{ text: prompt }] : prompt;
}
