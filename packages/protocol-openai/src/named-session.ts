import type { LoopwrightClient } from "@loopwright/client";
import { digestId, findOwnedSession, ownedSessionId } from "@loopwright/server";

/** What a request is part of: a conversation that its client has named, or a key under which it may come again. */
export interface NamedRequest {
  readonly kind: "chat" | "key";
  readonly name: string;
  readonly agent: string;
  readonly user: string;
  /** The name was made here at random, so no other user can have a session of it. */
  readonly isRandom: boolean;
}

/** A session with a name from outside. */
export interface NamedSession {
  readonly id: string;
  readonly exists: boolean;
}

/** The session of a named conversation or request. Another user or another agent has another session for the same name. @throws AgentError FORBIDDEN */
export async function namedSession(client: LoopwrightClient, { kind, name, agent, user, isRandom }: NamedRequest): Promise<NamedSession> {
  const id = await ownedSessionId(kind, user, [agent, name]);
  if (isRandom) return { id, exists: false };
  const earlierId = `${kind}-${await digestId(user, agent, name)}`;
  const label = kind === "chat" ? "conversation" : "idempotency key";
  const found = await findOwnedSession((one) => client.sessions.get(one), { user, id, earlierId, label });
  // Under its key a request begins its session or finds it; either way it is sent alike.
  return { id: found?.sessionId ?? id, exists: found !== undefined && kind === "chat" };
}
