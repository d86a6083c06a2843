import type { Clock } from "../../ports/clock.ts";
import type { SessionLog, SessionRef } from "../../ports/session-log.ts";
import { driverLimits } from "../setup/session-options.ts";

/** Notices what others append to a log, while somebody needs to know. */
export interface TailWatch {
  need(isNeeded: boolean): void;
  /** Watches appends from now on. True where it did not before: what was appended until now is told by nobody. */
  begin(): boolean;
}

/**
 * `onTail` is told the seq of the tail, or nothing when it should simply look. Appends are polled for only where the log cannot tell by itself,
 * and seldom where a channel does.
 */
export function createTailWatch(
  {
    log,
    ref,
    clock,
    hasChannel,
  }: { readonly log: SessionLog; readonly ref: SessionRef; readonly clock: Clock; readonly hasChannel: boolean },
  onTail: (seq: number | undefined) => void,
): TailWatch {
  let cancelPoll: (() => void) | undefined;
  let isLooking = false;
  let unsubscribe: (() => void) | undefined;

  const poll = (ms: number): void => {
    cancelPoll = clock.after(ms, () => {
      cancelPoll = undefined;
      onTail(undefined);
    });
  };

  return {
    begin() {
      if (isLooking) return false;
      isLooking = true;
      unsubscribe = log.subscribe?.(ref, onTail);
      return true;
    },
    need(isNeeded) {
      if (!isNeeded) {
        cancelPoll?.();
        unsubscribe?.();
        cancelPoll = unsubscribe = undefined;
        isLooking = false;
        return;
      }
      isLooking = true;
      if (log.subscribe) unsubscribe ??= log.subscribe(ref, onTail);
      else if (!cancelPoll) poll(hasChannel ? driverLimits.channelPollMs : driverLimits.tailPollMs);
    },
  };
}
