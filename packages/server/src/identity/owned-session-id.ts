/*
 * Owns: ids of sessions that belong to a user before the session exists: another user cannot begin a session with one. They are found again from a name,
 * such as that of a conversation or an `Idempotency-Key`, which is no secret.
 * Does not own: permission to read or continue a session that exists (permissions).
 */
import { AgentError, isAgentError, type SessionSnapshot } from "@loopwright/core/protocol";
import { digestId } from "../request/digest-id.ts";
import type { Principal } from "../server-options.ts";

const digestChars = 24;
const shortDigest = async (...texts: readonly string[]): Promise<string> => (await digestId(...texts)).slice(0, digestChars);

const ownedId = /-own-([0-9a-f]{24})-[0-9a-f]{24}$/;
/** What `keyedSessionId` gives: it has the key of one user in it, and is begun by that key alone. */
const keyedId = /^k[0-9a-f]{32}$/;

/**
 * The id of the session that a name of a user has: `<kind>-own-<digest of the user>-<digest of the names>`. The server lets no other user begin a session with it.
 * `kind` has at most 10 characters.
 */
export async function ownedSessionId(kind: string, user: string, names: readonly string[]): Promise<string> {
  return `${kind}-own-${await shortDigest(user)}-${await shortDigest(user, ...names)}`;
}

/** @throws AgentError FORBIDDEN for an id that a caller chose and that only another user, or a request with an `Idempotency-Key`, begins a session with */
export async function checkChosenId(id: string, { user }: Pick<Principal, "user">): Promise<void> {
  const owner = ownedId.exec(id)?.[1];
  if (owner === undefined ? !keyedId.test(id) : owner === (await shortDigest(user))) return;
  throw new AgentError("FORBIDDEN", {
    message: "You cannot begin a session with this id: ids of this form are made by the server for one user.",
    fix: "Leave the id out, or choose another one.",
  });
}

/** A name that stands for a session of a user. */
export interface OwnedName {
  readonly user: string;
  /** From `ownedSessionId`. */
  readonly id: string;
  /** The id that an earlier version had for the same name: a session that exists under it is continued. */
  readonly earlierId?: string;
  /** What the name stands for, in the error: `thread`. */
  readonly label: string;
}

/**
 * The session that a name of a user stands for, by `get` of the caller's client; `undefined` where there is none yet. @throws AgentError FORBIDDEN if another user has
 * opened it, before ids were owned
 */
export async function findOwnedSession(
  get: (id: string) => Promise<SessionSnapshot>,
  { user, id, earlierId, label }: OwnedName,
): Promise<SessionSnapshot | undefined> {
  const found = await existing(get, id);
  if (!found) {
    const earlier = earlierId === undefined ? undefined : await existing(get, earlierId).catch(absentWhereDeleted);
    return earlier?.participants?.[0] === user ? earlier : undefined;
  }
  if (found.participants?.[0] === user) return found;
  throw new AgentError("FORBIDDEN", {
    message: `The session of this ${label} was opened by another user.`,
    fix: `Use another ${label}, or ask for the removal of that session.`,
  });
}

function absentWhereDeleted(error: unknown): undefined {
  if (!isAgentError(error, "SESSION_CLOSED")) throw error;
  return undefined;
}

async function existing(get: (id: string) => Promise<SessionSnapshot>, id: string): Promise<SessionSnapshot | undefined> {
  try {
    return await get(id);
  } catch (error) {
    if (isAgentError(error, "SESSION_NOT_FOUND")) return undefined;
    throw error;
  }
}
