import { type Agent, AgentError, type RunOptions } from "@loopwright/core";
import type { SessionContext } from "../schemas/input.ts";
import type { ServerLimits } from "../server-limits.ts";
import type { Principal, ServerOptions } from "../server-options.ts";

/** The models that callers may choose of an agent, its own first. */
export function modelsOf({ name, model }: Agent, { models }: ServerOptions): readonly string[] {
  return [...new Set([model, ...(models?.[name] ?? [])])];
}

/** @throws AgentError FORBIDDEN where only a trusted caller may choose the model */
export function checkModel({ trusted }: Principal, { model }: RunOptions, models: readonly string[]): void {
  if (trusted || model === undefined || models.includes(model)) return;
  throw new AgentError("FORBIDDEN", {
    message: "The caller may not choose this model.",
    fix: `Choose one of ${models.join(", ")}, or leave \`model\` out.`,
  });
}

/** @throws AgentError FORBIDDEN for what only trusted callers may bring, INPUT_INVALID for too many tools */
export function checkContext({ trusted }: Principal, context: SessionContext | undefined, limits: ServerLimits): void {
  const { systemPrompt, messages = [], tools = [] } = context ?? {};
  if (!trusted && systemPrompt !== undefined) throw forbidden("bring a system prompt");
  if (!trusted && messages.some(({ role }) => role !== "user")) throw forbidden("bring messages that are not a user's");
  if (tools.length > limits.declaredTools) throw tooMuch(`${tools.length} tools, at most ${limits.declaredTools}`);
  const bytes = JSON.stringify(tools.map(({ parameters }) => parameters)).length;
  if (tools.length > 0 && bytes > limits.declaredToolBytes) throw tooMuch(`${bytes} bytes of tool schemas, at most ${limits.declaredToolBytes}`);
}

const forbidden = (what: string): AgentError =>
  new AgentError("FORBIDDEN", { message: `The caller may not ${what}.`, fix: "Leave it out: the agent on the server has its own." });

const tooMuch = (what: string): AgentError =>
  new AgentError("INPUT_INVALID", { message: `\`context.tools\` has ${what}.`, fix: "Bring fewer or smaller ones." });
