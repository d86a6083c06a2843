import type { AgentSession, SessionSnapshot } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import { decodeCursor, type Message } from "@loopwright/core/protocol";
import type { Call } from "../../request/route.ts";
import { awaitSeq, behind } from "../min-seq.ts";
import { openSession, sessionRefOf } from "../open-session.ts";
import { titled } from "./titled.ts";

/** The state of a session, for who only reads. */
export interface ReadState {
  readonly snapshot: SessionSnapshot;
  /** Oldest first, from the root to the head. */
  readonly messages: () => readonly Message[];
  /** Tells of a state that may be old. */
  readonly headers: { readonly [name: string]: string };
}

const staleHeaders: ReadState["headers"] = { "X-Session-Stale": "true" };

/** How long a state that was lost with the store may take to come back, before the old one is shown. */
const comebackMs = 250;

/**
 * The session as it stands; while the store is away, one that is loaded as it stood last, marked by a header.
 * @throws AgentError SESSION_NOT_FOUND, NODE_BEHIND, STORE_*
 */
export async function readState(call: Call, id: string, minSeq: number | undefined): Promise<ReadState> {
  return (await staleState(call, id, minSeq)) ?? freshState(call, id, minSeq);
}

async function freshState(call: Call, id: string, minSeq: number | undefined): Promise<ReadState> {
  const { session, release } = await openSession(call, id);
  try {
    await awaitSeq(session, minSeq, call.scene);
    const { messages } = session;
    return { snapshot: titled(session.snapshot()), messages: () => messages, headers: call.scene.watched.isAway() ? staleHeaders : {} };
  } finally {
    release();
  }
}

async function staleState({ scene, principal }: Call, id: string, minSeq = 0): Promise<ReadState | undefined> {
  const session = scene.host.loadedSession(sessionRefOf(principal, id));
  if (!session?.staleSnapshot()) return undefined;
  await comeBack(session, scene.clock);
  const snapshot = session.staleSnapshot();
  if (!snapshot) return undefined;
  const { seq = 0 } = decodeCursor(snapshot.cursor) ?? {};
  if (seq < minSeq) throw behind(minSeq, seq);
  return { snapshot: titled(snapshot), messages: () => pathOf(snapshot), headers: staleHeaders };
}

/** Resolves when the state can be read again, cannot, or has taken too long. */
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

function pathOf({ messages, head }: SessionSnapshot): readonly Message[] {
  const byId = new Map(messages.map((one) => [one.id, one]));
  const path: Message[] = [];
  for (let one = byId.get(head ?? ""); one; one = byId.get(one.parent ?? "")) path.push(one.message);
  return path.reverse();
}
