import type { SystemPart } from "../ports/model-provider.ts";

/** Joins the parts to the one system prompt that most vendors have: in order, with blank lines between them. `undefined`: there are none. */
export function systemText(parts: readonly SystemPart[] | undefined): string | undefined {
  return parts && parts.length > 0 ? parts.map(({ text }) => text).join("\n\n") : undefined;
}
