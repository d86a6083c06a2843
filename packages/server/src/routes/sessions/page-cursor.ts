import { AgentError } from "@loopwright/core";
import { isId, type SessionSummary } from "@loopwright/core/ports";

/** The last session of a page. */
export type SessionPlace = Pick<SessionSummary, "updatedAt" | "id">;

/** The place as a text, for the parameter `before`. */
export const pageCursor = ({ updatedAt, id }: SessionPlace): string => `${updatedAt}.${id}`;

/** The place that a request names. @throws AgentError CURSOR_INVALID */
export function placeOf(cursor: string): SessionPlace {
  const [, updatedAt, id] = /^(\d{1,16})\.(.+)$/.exec(cursor) ?? [];
  if (updatedAt !== undefined && id !== undefined && isId(id)) return { updatedAt: Number(updatedAt), id };
  throw new AgentError("CURSOR_INVALID", {
    message: "The page cursor `before` cannot be read.",
    fix: "Send the `next` of the page before.",
  });
}
