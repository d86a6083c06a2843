import type { Agent } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";
import type { Message } from "../../message/message.ts";
import { hasImage } from "../../prompt/stored-media.ts";

/**
 * Refuses an image before it is recorded if the model has no vision, because the history could not be sent to that model any more.
 * @throws AgentError MODEL_UNSUPPORTED
 */
export function checkVision(message: Message, { provider, model: own, hooks }: Agent, chosen: string | undefined): void {
  const model = chosen ?? own;
  // A hook may choose another model for the call; the request is checked against that model when it is sent.
  if (!hasImage(message) || hooks.some(({ prepare }) => prepare) || provider.capabilities(model).vision) return;
  throw withoutVision(model);
}

export function withoutVision(model: string): AgentError {
  return new AgentError("MODEL_UNSUPPORTED", {
    message: `The conversation holds an image, and the model \`${model.slice(0, 100)}\` has no vision.`,
    fix: "Choose a model with vision, or leave the image out.",
  });
}
