import type { LoopwrightClient } from "@loopwright/client";
import { AgentError, isAgentError } from "@loopwright/core/protocol";
import { digestId } from "@loopwright/server";

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

/**
 * The session of a named conversation or request. Another user or another agent has another session for the same name. A name that a client chose is no
 * secret, so another user may have opened a session with the id that follows from it. @throws AgentError FORBIDDEN
 */
export async function namedSession(client: LoopwrightClient, { kind, name, agent, user, isRandom }: NamedRequest): Promise<NamedSession> {
  const id = `${kind}-${await digestId(user, agent, name)}`;
  if (isRandom) return { id, exists: false };
  try {
    const { participants } = await client.sessions.get(id);
    if (participants?.[0] === user) {
      // Under its key a request begins its session or finds it; either way it is sent alike.
      return { id, exists: kind === "chat" };
    }
  } catch (error) {
    if (isAgentError(error, "SESSION_NOT_FOUND")) return { id, exists: false };
    throw error;
  }
  throw new AgentError("FORBIDDEN", {
    message: `The session of this ${kind === "chat" ? "conversation" : "idempotency key"} was opened by another user.`,
    fix: "Use another one, or ask for the removal of that session.",
  });
}
