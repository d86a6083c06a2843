import { AgentError } from "@loopwright/core";

/** The token as it can be sent in a header; undefined where none is set. `source` names where it came from. @throws AgentError CONFIG_INVALID */
export function secretOf(text: string | undefined, source: string): string | undefined {
  const token = text?.trim();
  if (!token) return undefined;
  if (/^[\u0021-\u007e]+$/.test(token)) return token;
  throw new AgentError("CONFIG_INVALID", {
    message: `The token of ${source} holds characters that no request can send.`,
    fix: "Take letters, digits and signs of ASCII without spaces.",
  });
}
