import type { SessionStorage } from "../../memory/store/private-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import { driverLimits } from "../setup/driver-limits.ts";

/** Notices appends of others to a log while the watch is active. */
export interface LogEndWatch {
  setActive(isActive: boolean): void;
  /** Watches appends from now on. True if the watch was not active before, so that earlier appends were not noticed. */
  begin(): boolean;
}

/**
 * `onTail` gets the seq of the tail, or `undefined` when the log must be read. A log without `subscribe` is polled, less often if a channel
 * notifies.
 */
export function watchLogEnd(
  {
    log,
    ref,
    clock,
    hasChannel,
  }: { readonly log: SessionStorage["log"]; readonly ref: SessionRef; readonly clock: Clock; readonly hasChannel: boolean },
  onTail: (seq: number | undefined) => void,
): LogEndWatch {
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
    setActive(isActive) {
      if (!isActive) {
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
