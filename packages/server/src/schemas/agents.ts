import { z } from "zod";
import { listOf } from "./json.ts";
import { exactly } from "./schema-of-type.ts";

/** A tool, with the fields that clients show. */
export interface ToolSummary {
  readonly name: string;
  readonly label?: string;
  readonly description: string;
  /** The side that runs the tool. */
  readonly home: "server" | "client";
  /** Present if calls of the tool do not count against `limits.toolCallsMax`. */
  readonly counts?: false;
}

/** What one run of an agent may use, its children included; 0: no limit. */
export interface AgentLimits {
  readonly turnsMax: number;
  readonly toolCallsMax: number;
  readonly tokensMax: number;
  readonly costUsdMax: number;
  /** In milliseconds. */
  readonly durationMs: number;
}

/** An agent, with the fields that clients show. */
export interface AgentSummary {
  readonly name: string;
  /** The default model. */
  readonly model: string;
  /** The models that an input may choose. */
  readonly models: readonly string[];
  /** The context window in tokens, by model; a model with an unknown window is absent. */
  readonly contextTokens: { readonly [model: string]: number };
  readonly limits: AgentLimits;
  readonly tools: readonly ToolSummary[];
}

/** The agents of a server. */
export interface AgentList {
  readonly agents: readonly AgentSummary[];
  readonly default: string;
}

export const toolSummary: z.ZodType<ToolSummary> = exactly<ToolSummary>()(
  z.object({
    name: z.string(),
    label: z.string().exactOptional(),
    description: z.string(),
    home: z.enum(["server", "client"]),
    counts: z.literal(false).exactOptional(),
  }),
);

const agentLimits: z.ZodType<AgentLimits> = exactly<AgentLimits>()(
  z.object({ turnsMax: z.number(), toolCallsMax: z.number(), tokensMax: z.number(), costUsdMax: z.number(), durationMs: z.number() }),
);

export const agentList: z.ZodType<AgentList> = exactly<AgentList>()(
  z.object({
    agents: listOf(
      exactly<AgentSummary>()(
        z.object({
          name: z.string(),
          model: z.string(),
          models: listOf(z.string()),
          contextTokens: z.record(z.string(), z.number()),
          limits: agentLimits,
          tools: listOf(toolSummary),
        }),
      ),
    ),
    default: z.string(),
  }),
);
