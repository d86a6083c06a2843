import type { FactBody } from "../loop/fact.ts";
import type { Clock } from "../ports/clock.ts";
import { createGather } from "./gather.ts";
import type { Inbox } from "./inbox.ts";

export interface ClosingsOptions {
  readonly clock: Clock;
  readonly inbox: Inbox;
  /** Effects under way, those included whose closing fact is on the way. */
  readonly count: () => number;
  /** Something is in the inbox. */
  readonly look: () => void;
}

/** Hands the closing facts of effects in. Those that end in the same moment are decided on together: one batch, not one for each. */
export function createClosings({ clock, inbox, count, look }: ClosingsOptions): (body: FactBody) => Promise<void> {
  const gather = createGather(clock, look);
  return (body) => {
    const done = inbox.put({ bodies: () => [body], needsOwner: true, isClosing: true });
    if (count() < 2) look();
    else gather();
    return done.then(
      () => {},
      () => {},
    );
  };
}
