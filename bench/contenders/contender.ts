import type { JsonSchema } from "@loopwright/core";

/** A tool as every contender is given it. */
export interface BenchTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  execute(args: Record<string, unknown>): string | Promise<string>;
}

export interface Opening {
  /** Ends with `/v1`. */
  readonly baseURL: string;
  readonly tools: readonly BenchTool[];
  /** Model calls that one input may take. */
  readonly turnsMax: number;
  /** Messages before the first input. */
  readonly history: number;
  /** A database that holds them, for contenders with a store. */
  readonly database?: string;
  /** Called with every piece of text as it comes. */
  readonly onText: (delta: string) => void;
}

/** What became of one input. */
export interface Outcome {
  /** The final answer. */
  readonly text: string;
  /** Model calls made. */
  readonly turns: number;
}

export interface Conversation {
  say(text: string): Promise<Outcome>;
  close(): Promise<void>;
}

export type Open = (opening: Opening) => Promise<Conversation>;

export const contenderNames = ["sdk", "raw", "raw-node", "loopwright", "loopwright-node"] as const;
export type ContenderName = (typeof contenderNames)[number];

export const systemPrompt = "You are a helpful assistant. Use the tools where they help, and answer in few words.";
export const modelName = "bench";
export const sessionId = "bench";
