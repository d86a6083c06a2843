import { type Agent, AgentError } from "@loopwright/core";
import type { ExecuteInput, Message, RunOptions } from "@loopwright/core/protocol";
import type { SessionContext } from "../schemas/index.ts";
import type { Principal } from "../server-options.ts";
import type { ServerScene } from "../server-scene.ts";

/** What a caller asks of an agent. */
export interface Wish {
  /** By name. */
  readonly agent: string;
  readonly context?: SessionContext | undefined;
  readonly options?: RunOptions | undefined;
  readonly input?: ExecuteInput | undefined;
}

/**
 * Whether this caller may ask for it. @throws AgentError FORBIDDEN, AGENT_NOT_FOUND, MODULE_UNKNOWN, PAYLOAD_TOO_LARGE
 */
export function admit(principal: Principal, wish: Wish, scene: Pick<ServerScene, "options" | "limits">): void {
  const agent = scene.options.agents.find(({ name }) => name === wish.agent);
  if (!agent) throw new AgentError("AGENT_NOT_FOUND", { message: `This server has no agent \`${wish.agent.slice(0, 64)}\`.` });
  checkModule(wish.options?.activeModule, scene.options.modules);
  checkTools(wish.context, scene.limits);
  if (principal.trusted === true) return;
  checkContext(wish.context);
  checkModel(wish.options?.model, modelsOf(agent, scene));
}

/** The models that callers may choose for an agent, its own first. */
export function modelsOf(agent: Agent, { options }: Pick<ServerScene, "options">): readonly string[] {
  return [...new Set([agent.model, ...(options.models?.[agent.name] ?? [])])];
}

function checkModule(id: string | undefined, modules: ServerScene["options"]["modules"]): void {
  if (id === undefined || Object.hasOwn(modules ?? {}, id)) return;
  throw new AgentError("MODULE_UNKNOWN", { message: `There is no module \`${id.slice(0, 64)}\` here.` });
}

function checkTools(context: SessionContext | undefined, limits: ServerScene["limits"]): void {
  const tools = context?.tools ?? [];
  if (tools.length > limits.declaredTools)
    throw new AgentError("PAYLOAD_TOO_LARGE", {
      message: `${tools.length} tools came with the session, at most ${limits.declaredTools}.`,
    });
  const bytes = JSON.stringify(tools).length;
  if (bytes <= limits.declaredToolBytes) return;
  throw new AgentError("PAYLOAD_TOO_LARGE", {
    message: `The tools weigh ${bytes} bytes, at most ${limits.declaredToolBytes}.`,
  });
}

function checkContext(context: SessionContext | undefined): void {
  if (context?.systemPrompt !== undefined)
    throw new AgentError("FORBIDDEN", { message: "`context.systemPrompt` may come from trusted callers only.", fix: "Leave it out." });
  const seeded = context?.messages?.find(({ role }) => role !== "user");
  if (!seeded) return;
  throw new AgentError("FORBIDDEN", {
    message: `\`context.messages\` holds a message of role \`${seeded.role}\`, which may come from trusted callers only.`,
    fix: "Send the user's messages only.",
  });
}

/** What only a vendor understands is sent to it word for word, and shown to nobody. @throws AgentError FORBIDDEN */
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
