/*
 * Which run a call is about. MCP has no way to resume a call, so a call that comes again under the same key is answered by the same run, from its
 * beginning and on whichever node.
 */

import { digestId, ownedSessionId } from "@loopwright/server";
import type { ServerContext } from "@modelcontextprotocol/server";

/** Under `_meta` of a call: a key of the client's choice. */
const keyName = "loopwright/idempotencyKey";

/** The header that names a session of the revisions of 2025. */
export const sessionHeader = "mcp-session-id";

/** The key of a call, and whether it outlives its connection. */
export interface CallKey {
  readonly key: string;
  /** False: the client has no other way to stop the run than to close the stream of its answer. */
  readonly isKept: boolean;
}

/** The key that the client chose; else, in a session of 2025, that session with the id of the request; else one that no other call has. */
export async function callKeyOf(
  { mcpReq }: ServerContext,
  { headers, user }: { readonly headers: Headers; readonly user: string },
): Promise<CallKey> {
  const meta = mcpReq._meta as Readonly<Record<string, unknown>> | undefined;
  const chosen = meta?.[keyName] ?? headers.get("idempotency-key");
  if (typeof chosen === "string" && chosen !== "") return { key: await digestId(user, "chosen", chosen), isKept: true };
  const session = headers.get(sessionHeader);
  if (session !== null) return { key: await requestKey({ user, session, id: mcpReq.id }), isKept: true };
  return { key: crypto.randomUUID(), isKept: false };
}

/** The key of a request within a session of 2025. */
export const requestKey = ({
  user,
  session,
  id,
}: {
  readonly user: string;
  readonly session: string;
  readonly id: string | number;
}): Promise<string> => digestId(user, "request", session, typeof id, String(id));

/** Where a call is found among those that run here: users of two scopes may have one name. */
export const placeOf = (scope: string, key: string): string => JSON.stringify([scope, key]);

/** The ids that the session of a call may have which belongs to no conversation: that of now, and that of earlier versions. */
export const sessionsOfKey = async (user: string, key: string): Promise<readonly [now: string, earlier: string]> => [
  await ownedSessionId("mcp", user, ["call", key]),
  `mcp-${key}`,
];

/** The same for a conversation that a client has named. */
export const sessionsOfConversation = async (
  user: string,
  { agent, conversation }: { readonly agent: string; readonly conversation: string },
): Promise<readonly [now: string, earlier: string]> => [
  await ownedSessionId("mcp", user, ["conversation", agent, conversation]),
  `chat-${await digestId(user, agent, conversation)}`,
];
