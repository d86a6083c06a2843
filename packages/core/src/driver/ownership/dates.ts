import { closeCall } from "../../loop/closing-results.ts";
import type { FactBody } from "../../loop/fact.ts";
import { type Call, isAtRest, type State } from "../../loop/state.ts";
import type { Clock } from "../../ports/clock.ts";
import { driverLimits } from "../setup/session-options.ts";

/** A client or a person is waited for. */
const isAwaited = ({ stage }: Call): boolean => stage === "requested" || stage === "asked";

/** The next moment at which time alone moves the session, in milliseconds since the epoch. */
function nextDate({ run }: State): number | undefined {
  if (!run || run.abort) return undefined;
  const dates = run.calls.flatMap((call) => (isAwaited(call) && call.deadline !== undefined ? [call.deadline] : []));
  if (run.retry?.until !== undefined) dates.push(run.retry.until);
  return dates.length === 0 ? undefined : Math.min(...dates);
}

/** No retry waits as long as this. */
const retryWaitMaxMs = 240_000;

/** Whether a retry has to wait still. A date that is further away than any retry is was written by a clock that is wrong, and holds nobody up. */
export function isAhead(date: number, now: number): boolean {
  return date > now && date - now <= retryWaitMaxMs;
}

/** Longer waits of a timer fire at once. */
const timerMaxMs = 2 ** 31 - 1;

/** The one timer of a session: for its next date, or for the store to come back. */
export interface DateTimer {
  /** Waits for the next date of this state, in place of any other. */
  set(state: State): void;
  /** The store has failed: waits, after each fault in a row twice as long, in place of any other. False: for nobody. */
  setAfterFault(isAwaited: boolean): void;
  cancel(): void;
}

/** `onDate` may come early: a timer has a longest wait. */
export function createDateTimer(clock: Clock, onDate: () => void): DateTimer {
  let cancel = (): void => {};
  let faults = 0;
  return {
    cancel: () => cancel(),
    setAfterFault(isAwaited) {
      cancel();
      if (isAwaited) cancel = clock.after(Math.min(driverLimits.faultCapMs, driverLimits.faultBaseMs * 2 ** faults++), onDate);
    },
    set(state) {
      faults = 0;
      cancel();
      cancel = () => {};
      const date = nextDate(state);
      if (date === undefined) return;
      const waitMs = Math.min(Math.max(0, date - clock.now()), timerMaxMs);
      cancel = clock.after(waitMs, onDate, { idle: isAtRest(state) });
    },
  };
}

/** When the session needs an owner: 0 at once, a date, or `null` for not before somebody appends. For `AppendRequest.due`. */
export function dueOf(state: State): number | null {
  if (state.status === "closed") return null;
  return isAtRest(state) ? (nextDate(state) ?? null) : 0;
}

/** The results of calls whose deadline has passed before anybody answered or decided. */
export function expiredCalls({ run }: State, now: number): readonly FactBody[] {
  if (!run) return [];
  const late = run.calls.filter((call) => isAwaited(call) && call.deadline !== undefined && call.deadline <= now);
  return late.map((call) => {
    const text = call.stage === "asked" ? "Not run: nobody decided before the deadline." : "No answer came before the deadline.";
    return closeCall(run.runId, call, { outcome: "expired", code: "TOOL_TIMEOUT", text });
  });
}
