import type { AgentSession, SessionSnapshot } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import { decodeCursor, type Message, pathOf } from "@loopwright/core/protocol";
import type { RequestContext } from "../../request/route.ts";
import { awaitSeq, behind } from "../await-seq.ts";
import { openSession, sessionRefOf } from "../open-session.ts";
import { withDerivedTitle } from "./with-derived-title.ts";

/** The state of a session, for requests that only read. */
export interface ReadState {
  readonly snapshot: SessionSnapshot;
  /** Oldest first, from the root to the head. */
  readonly messages: () => readonly Message[];
  /** Marks a state that may be old. */
  readonly headers: { readonly [name: string]: string };
}

const staleHeaders: ReadState["headers"] = { "X-Session-Stale": "true" };

/** After a failure of the store: how long a request waits until the state was read again, before it gets the last known state. */
const comebackMs = 250;

/**
 * The current state of the session. While the store is unavailable: the last known state of a loaded session, marked by a header.
 * @throws AgentError SESSION_NOT_FOUND, NODE_BEHIND, STORE_*
 */
export async function readState(context: RequestContext, id: string, minSeq: number | undefined): Promise<ReadState> {
  return (await staleState(context, id, minSeq)) ?? freshState(context, id, minSeq);
}

async function freshState(context: RequestContext, id: string, minSeq: number | undefined): Promise<ReadState> {
  const { session, release } = await openSession(context, id);
  try {
    await awaitSeq(session, minSeq, context.server);
    const { messages } = session;
    return {
      snapshot: withDerivedTitle(session.snapshot()),
      messages: () => messages,
      headers: context.server.watched.isAway() ? staleHeaders : {},
    };
  } finally {
    release();
  }
}

async function staleState({ server, principal }: RequestContext, id: string, minSeq = 0): Promise<ReadState | undefined> {
  const session = server.host.loadedSession(sessionRefOf(principal, id));
  if (!session?.staleSnapshot()) return undefined;
  await comeBack(session, server.clock);
  const snapshot = session.staleSnapshot();
  if (!snapshot) return undefined;
  const { seq = 0 } = decodeCursor(snapshot.cursor) ?? {};
  if (seq < minSeq) throw behind(minSeq, seq);
  return { snapshot: withDerivedTitle(snapshot), messages: () => pathOf(snapshot).map(({ message }) => message), headers: staleHeaders };
}

/** Resolves when the state was read again, when it cannot be read, and after `comebackMs`. */
function comeBack(session: AgentSession, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(comebackMs, resolve);
    const end = (): void => {
      cancel();
      resolve();
    };
    session.ready().then(end, end);
  });
}
