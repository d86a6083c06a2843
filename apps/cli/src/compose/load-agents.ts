import { type Agent, AgentError, agentTool, createAgent, defineTool, isAgentError, type ModelRef, type Tool } from "@loopwright/core";
import type { BlobStore, ModelProvider } from "@loopwright/core/ports";
import type { Chatbots } from "@loopwright/tools-knowledge";
import type { Environment } from "../config/environment.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { loadModule } from "./load-module.ts";

/** What a function `agents` of a module is called with. */
export interface AgentParts {
  /** The model of the flags and the environment. */
  readonly provider: ModelProvider;
  /** The same with its fallbacks, for `createAgent({ model })`. */
  readonly model: readonly ModelRef[];
  /** Those of the assistant: small ones, files, and what the flags offer. */
  readonly tools: readonly Tool[];
  /** For tools that keep files with a session. */
  readonly blobs: BlobStore;
  /** For child processes: the variables of this process with the secrets of files. */
  readonly environment: Environment;
  /** Of `@loopwright/core`, for a module in a folder where nothing is installed. */
  readonly createAgent: typeof createAgent;
  readonly defineTool: typeof defineTool;
  readonly agentTool: typeof agentTool;
}

/** The agents of a module, the modes that inputs to them may name, and the chatbots that the main thread may ask. */
export interface OwnAgents {
  readonly agents: readonly Agent[];
  readonly modes: readonly string[];
  readonly chatbots: Chatbots;
}

/**
 * The agents that a module of the user's own exports, one by one, in arrays, or by a function `agents`; its `modes`; and its `chatbots`. The module is run.
 * @throws AgentError CONFIG_INVALID when it cannot be loaded, exports no agent, or two of one name
 */
export async function loadAgents(
  file: string,
  parts: Pick<AgentParts, "provider" | "model" | "tools" | "blobs" | "environment">,
  directory: string,
): Promise<OwnAgents> {
  const exported = await loadModule({ file, holds: "agents", flag: "--agents" }, directory);
  const made = "agents" in exported && typeof exported.agents === "function" ? [await call(exported.agents, { file, parts })] : [];
  const agents = [...Object.values(exported), ...made].flat().filter(isAgent);
  const twin = agents.find(({ name }, at) => agents.findIndex((one) => one.name === name) !== at);
  if (twin)
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${file}\` exports two agents of the name \`${twin.name}\`.`,
      fix: "Give every agent a name of its own.",
    });
  const chatbots = "chatbots" in exported ? chatbotsIn(exported.chatbots, { file, model: parts.model }) : {};
  if (agents.length === 0 && Object.keys(chatbots).length === 0)
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${file}\` exports no agent and no chatbot.`,
      fix: "Export what `createAgent` returned, or a function `agents` that returns it.",
    });
  const modes = "modes" in exported && Array.isArray(exported.modes) ? exported.modes : [];
  return { agents, modes: modes.filter((mode): mode is string => typeof mode === "string"), chatbots };
}

/** The chatbots of a module, each with the model of the flags. @throws AgentError CONFIG_INVALID for what is no chatbot, with its name */
function chatbotsIn(exported: unknown, { file, model }: { readonly file: string; readonly model: readonly ModelRef[] }): Chatbots {
  const all = typeof exported === "object" && exported !== null ? Object.entries(exported) : [];
  return Object.fromEntries(
    all.map(([name, one]: [string, unknown]) => {
      const { description, prompt } = (one ?? {}) as { readonly [member: string]: unknown };
      if (/^[\w-]{1,50}$/.test(name) && typeof description === "string" && typeof prompt === "string")
        return [name, { description, prompt, model }];
      throw new AgentError("CONFIG_INVALID", {
        message: `The chatbot \`${oneLine(name, 60)}\` of \`${file}\` is not usable.`,
        fix: "Export `chatbots` as `{ name: { description, prompt } }`, with names of 1 to 50 letters, digits, `_` and `-`.",
      });
    }),
  );
}

interface Called {
  readonly file: string;
  readonly parts: Pick<AgentParts, "provider" | "model" | "tools" | "blobs" | "environment">;
}

async function call(make: object, { file, parts }: Called): Promise<unknown> {
  const all: AgentParts = { ...parts, createAgent, defineTool, agentTool };
  try {
    return await (make as (parts: AgentParts) => unknown)(all);
  } catch (cause) {
    if (isAgentError(cause)) throw cause;
    throw new AgentError("CONFIG_INVALID", {
      message: `The function \`agents\` of \`${file}\` failed: ${cause instanceof Error ? cause.name : "unknown error"}.`,
      fix: "Have it return what `createAgent` returned.",
      cause,
    });
  }
}

function isAgent(value: unknown): value is Agent {
  return typeof value === "object" && value !== null && "name" in value && "provider" in value && "chain" in value && "limits" in value;
}
