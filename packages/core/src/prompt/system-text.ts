import type { SystemPart } from "../ports/model-provider.ts";

/** The parts as the one system prompt that most vendors have: in their order, a blank line between two. `undefined` where there is none. */
export function systemText(parts: readonly SystemPart[] | undefined): string | undefined {
  return parts && parts.length > 0 ? parts.map(({ text }) => text).join("\n\n") : undefined;
}
