import { AgentError } from "@loopwright/core";

/** The reply as a list. @throws AgentError INTERNAL when it is not a list: the server is not a Redis, or the reply was damaged on its way. */
export function listOf(reply: unknown): readonly unknown[] {
  if (Array.isArray(reply)) return reply;
  throw odd();
}

/** The reply as a number; a text with a number is accepted. @throws AgentError INTERNAL */
export function numberOf(reply: unknown): number {
  const value = typeof reply === "string" ? Number.parseFloat(reply) : reply;
  if (typeof value === "number" && !Number.isNaN(value)) return value;
  throw odd();
}

/** The reply as a text; `undefined` for an empty reply. */
export function textOf(reply: unknown): string | undefined {
  return typeof reply === "string" ? reply : undefined;
}

function odd(): AgentError {
  return new AgentError("STORE_UNAVAILABLE", {
    message: "Redis answered in a form that the store does not know.",
    fix: "Check that the address is a Redis of version 6.2 or newer.",
  });
}
