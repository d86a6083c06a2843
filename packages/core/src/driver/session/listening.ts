import type { State } from "../../loop/state.ts";
import { createForeignLanes, type ForeignLanesOptions } from "../live/foreign-lanes.ts";
import { createTailWatch } from "../log/tail-watch.ts";
import type { Deps } from "../setup/deps.ts";

/** Who a session listens for. */
export interface Attention {
  readonly isOwner: boolean;
  readonly isWatched: boolean;
  /** Whoever runs it may be gone, and this process may go on with it. */
  readonly mayTakeOver: boolean;
}

/** What a session hears of other nodes: what they append, and what they say in between. Nothing where nobody needs to know. */
export interface Listening {
  /** Listens from now on. True where it did not before: what was appended until now is told by nobody. */
  begin(): boolean;
  /** Listens for an owner to be: before its claim tells where the log ends, so that nothing that follows is missed. */
  beginOwner(): void;
  attend(attention: Attention): void;
  /** A state was adopted and its events were told; what comes after `seq` was told as it came. */
  heed(state: State, seq: number): void;
  end(): void;
}

export interface ListeningOptions extends Omit<ForeignLanesOptions, "deps"> {
  /** While true it is to be looked whether the lease of another node still runs: no append tells that. */
  readonly awaitTurn: (isNeeded: boolean) => void;
}

/** `onTail` is told the seq of the tail, or nothing when it should simply look. */
export function createListening(deps: Deps, options: ListeningOptions): Listening {
  if (deps.isPrivate) return nothingToHear;
  const { store, ref, clock, channel } = deps;
  const { log } = store;
  const tail = createTailWatch({ log, ref, clock, hasChannel: channel !== undefined }, options.onTail);
  const lanes = createForeignLanes({ deps, ...options });
  // An owner says itself what is said; of the rest the log tells, where it can.
  const ownerHears = channel !== undefined && !log.subscribe;
  return {
    begin() {
      lanes.need(!options.isOwner() || ownerHears);
      return tail.begin();
    },
    beginOwner: () => tail.need(true),
    attend({ isOwner, isWatched, mayTakeOver }) {
      lanes.need(isOwner ? ownerHears : isWatched);
      tail.need(isOwner || isWatched);
      options.awaitTurn(isWatched && !isOwner && mayTakeOver);
    },
    heed: lanes.heed,
    end() {
      lanes.need(false);
      tail.need(false);
      options.awaitTurn(false);
    },
  };
}

/** Nobody else appends to the log or says anything in its lanes. */
const nothingToHear: Listening = { begin: () => false, beginOwner() {}, attend() {}, heed() {}, end() {} };
