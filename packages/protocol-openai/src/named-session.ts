import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError } from "@loopwright/core/protocol";
import { digestId } from "./digest-id.ts";

/** What a request is part of: a conversation that its client has named, or a key under which it may come again. */
export interface NamedRequest {
  readonly kind: "chat" | "key";
  readonly name: string;
  readonly agent: string;
  readonly user: string;
}

/** A session with a name from outside. */
export interface NamedSession {
  readonly id: string;
  readonly exists: boolean;
}

/** The session of a named conversation or request. Another user or another agent has another session for the same name. */
export async function namedSession(client: LoopwrightClient, { kind, name, agent, user }: NamedRequest): Promise<NamedSession> {
  const id = `${kind}-${await digestId(user, agent, name)}`;
  // Under its key a request begins its session or finds it; either way it is sent alike.
  if (kind === "key") return { id, exists: false };
  try {
    await client.sessions.get(id);
    return { id, exists: true };
  } catch (error) {
    if (isAgentError(error, "SESSION_NOT_FOUND")) return { id, exists: false };
    throw error;
  }
}
