import type { JsonSchema } from "../../message/json.ts";

/** What `execute` may choose for one input. */
export interface RunOptions {
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly reasoningEffort?: "minimal" | "low" | "medium" | "high";
  /** Replaces the agent's prompt, for this run of this session alone: children keep their own. */
  readonly systemPrompt?: string;
  /**
   * The schema of the answer, as `output` of an agent: its root is an object, and the answer is checked by shape. An agent with an `output` of its own takes none.
   */
  readonly output?: { readonly name: string; readonly schema: JsonSchema };
}

/** The budget of a run, and the accounts that are charged. */
export interface RunBudget {
  readonly accounts?: readonly string[];
  /** Prompt and answer tokens. Absent: no limit. */
  readonly tokensMax?: number;
  /** US dollars. Absent: no limit. */
  readonly costUsdMax?: number;
}
