import { type Agent, AgentError } from "@loopwright/core";
import type { ExecuteInput, ExecuteOptions, Message } from "@loopwright/core/protocol";
import { accessOf } from "../identity/access-of-principal.ts";
import type { SessionContext } from "../schemas/index.ts";
import type { ServerContext } from "../server-context.ts";
import type { Principal } from "../server-options.ts";

/** A request to an agent. */
export interface AgentUse {
  /** The name of the agent. */
  readonly agent: string;
  readonly context?: SessionContext | undefined;
  readonly options?: Pick<ExecuteOptions, "model" | "systemPrompt"> | undefined;
  readonly input?: ExecuteInput | undefined;
}

/**
 * Passes if the caller may make this request. @throws AgentError FORBIDDEN, AGENT_NOT_FOUND, PAYLOAD_TOO_LARGE
 */
export async function checkAgentUse(principal: Principal, use: AgentUse, server: Pick<ServerContext, "options" | "limits">): Promise<void> {
  const agent = await server.options.findAgent(use.agent, accessOf(principal));
  if (!agent) throw agentNotFound(use.agent);
  checkTools(use.context, server.limits);
  if (principal.trusted === true) return;
  checkContext(use.context);
  if (use.options?.systemPrompt !== undefined) throw promptForbidden("options.systemPrompt");
  checkModel(use.options?.model, modelsOf(agent, server));
}

export const agentNotFound = (name: string): AgentError =>
  new AgentError("AGENT_NOT_FOUND", {
    message: name === "" ? "This server has no default agent." : `This server has no agent \`${name.slice(0, 64)}\`.`,
    ...(name === "" ? { fix: "Name an agent in `agent`." } : {}),
  });

/** The models that callers may choose for an agent, its own first. */
export function modelsOf(agent: Agent, { options }: Pick<ServerContext, "options">): readonly string[] {
  return [...new Set([agent.model, ...(options.models?.[agent.name] ?? [])])];
}

function checkTools(context: SessionContext | undefined, limits: ServerContext["limits"]): void {
  const tools = context?.tools ?? [];
  if (tools.length > limits.declaredTools)
    throw new AgentError("PAYLOAD_TOO_LARGE", {
      message: `The session has ${tools.length} tools; at most ${limits.declaredTools} are allowed.`,
    });
  const bytes = JSON.stringify(tools).length;
  if (bytes <= limits.declaredToolBytes) return;
  throw new AgentError("PAYLOAD_TOO_LARGE", {
    message: `The tools have ${bytes} bytes; at most ${limits.declaredToolBytes} are allowed.`,
  });
}

const promptForbidden = (field: string): AgentError =>
  new AgentError("FORBIDDEN", { message: `\`${field}\` may come from trusted callers only.`, fix: "Leave it out." });

function checkContext(context: SessionContext | undefined): void {
  if (context?.systemPrompt !== undefined) throw promptForbidden("context.systemPrompt");
  const seeded = context?.messages?.find(({ role }) => role !== "user");
  if (!seeded) return;
  throw new AgentError("FORBIDDEN", {
    message: `\`context.messages\` holds a message of role \`${seeded.role}\`, which may come from trusted callers only.`,
    fix: "Send the user's messages only.",
  });
}

/** Refuses opaque parts unless the caller is trusted: they are sent to the vendor unchanged and shown in no view. @throws AgentError FORBIDDEN */
export function checkOpaque(messages: readonly Message[], { trusted }: Principal): void {
  if (trusted === true) return;
  for (const message of messages) {
    if (message.role === "notice" || typeof message.content === "string") continue;
    if (message.content.some((part) => part.type === "opaque" || "opaque" in part))
      throw new AgentError("FORBIDDEN", {
        message: "A message holds an `opaque` part, which may come from trusted callers only.",
        fix: "Leave it out.",
      });
  }
}

function checkModel(model: string | undefined, allowed: readonly string[]): void {
  if (model === undefined || allowed.includes(model)) return;
  throw new AgentError("FORBIDDEN", {
    message: `The model \`${model.slice(0, 100)}\` may not be chosen here.`,
    fix: "See `/api/agents` for the models of an agent.",
  });
}
