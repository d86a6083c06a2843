import type { Notification, SessionRef } from "@loopwright/core/ports";
import type { SessionEvent } from "@loopwright/core/protocol";
import { channelLimits } from "./channel-limits.ts";
import type { FrameLine } from "./frame.ts";
import { addEvent, type Piece, placeOf, sizeOf } from "./pieces.ts";

/** What waits of one scope, oldest first. */
export interface ScopeBatch {
  readonly scope: string;
  readonly lines: readonly FrameLine[];
}

/**
 * What waits to be sent, at most so many bytes of it. Over that, ephemeral events of all sessions are dropped first, then the rest; listeners
 * get a gap in their place.
 */
export interface Outbox {
  readonly isEmpty: boolean;
  publish(ref: SessionRef, events: readonly SessionEvent[]): void;
  notify(scope: string, notification: Notification): void;
  /** Everything, which then waits no more. */
  take(): readonly ScopeBatch[];
}

/** Between two notifications the events of each session wait together: the order among sessions is not guaranteed. */
type Section = Map<string, Piece[]> | Notification;

interface Waiting {
  sections: Section[];
  /** Sessions of which something was dropped; `null`: of any. */
  missed: Set<string> | null;
}

/** `onDrop` is called when something is dropped. */
export function createOutbox({ limitBytes, onDrop }: { readonly limitBytes: number; readonly onDrop: () => void }): Outbox {
  let scopes = new Map<string, Waiting>();
  let sizeBytes = 0;

  function waitingOf(scope: string): Waiting {
    const known = scopes.get(scope);
    if (known) return known;
    const fresh: Waiting = { sections: [], missed: new Set() };
    scopes.set(scope, fresh);
    return fresh;
  }

  function bound(): void {
    if (sizeBytes <= limitBytes) return;
    onDrop();
    for (const waiting of scopes.values()) sizeBytes -= dropEphemeral(waiting);
    // With less room than that, every event would be cause to look for more.
    if (sizeBytes <= limitBytes / 2) return;
    for (const waiting of scopes.values()) {
      for (const section of waiting.sections) if (section instanceof Map) for (const session of section.keys()) miss(waiting, session);
      waiting.sections = [];
    }
    sizeBytes = 0;
  }

  return {
    get isEmpty() {
      return scopes.size === 0;
    },
    publish({ scope, session }, events) {
      const { sections } = waitingOf(scope);
      let section = sections.at(-1);
      if (!(section instanceof Map)) {
        section = new Map();
        sections.push(section);
      }
      let pieces = section.get(session);
      if (!pieces) {
        pieces = [];
        section.set(session, pieces);
      }
      for (const event of events) sizeBytes += addEvent(pieces, event);
      bound();
    },
    notify(scope, notification) {
      waitingOf(scope).sections.push(notification);
      sizeBytes += JSON.stringify(notification).length;
      bound();
    },
    take() {
      const batches = [...scopes].map(([scope, waiting]) => ({ scope, lines: linesOf(waiting) }));
      scopes = new Map();
      sizeBytes = 0;
      return batches;
    },
  };
}

function miss(waiting: Waiting, session: string): void {
  waiting.missed?.add(session);
  if (waiting.missed && waiting.missed.size > channelLimits.missedSessions) waiting.missed = null;
}

/** Gives about how many bytes were dropped. */
function dropEphemeral(waiting: Waiting): number {
  let dropped = 0;
  for (const section of waiting.sections) {
    if (!(section instanceof Map)) continue;
    for (const [session, pieces] of section) {
      const durable = pieces.filter((piece) => placeOf(piece) === undefined);
      if (durable.length === pieces.length) continue;
      for (const piece of pieces) if (placeOf(piece)) dropped += sizeOf(piece);
      section.set(session, durable);
      miss(waiting, session);
    }
  }
  return dropped;
}

/** A gap is sent before the events that follow it. */
function linesOf({ sections, missed }: Waiting): readonly FrameLine[] {
  const lines: FrameLine[] = missed === null ? [{ missed }] : [...missed].map((session) => ({ missed: session }));
  for (const section of sections) {
    if (!(section instanceof Map)) lines.push({ notification: section });
    else for (const [session, pieces] of section) if (pieces.length > 0) lines.push({ session, pieces });
  }
  return lines;
}
