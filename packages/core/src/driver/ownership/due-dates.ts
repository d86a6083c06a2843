import { owesReport } from "../../loop/children/background-children.ts";
import { deadlineBelow } from "../../loop/children/waits-of-children.ts";
import { firingKey, nextFiring, readySchedules } from "../../loop/due-schedules.ts";
import type { FactBody } from "../../loop/fact.ts";
import { closeCall } from "../../loop/results-without-run.ts";
import { type Call, isAtRest, isAwaited, type Run, type Schedule, type State } from "../../loop/state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { IdSource } from "../../ports/id-source.ts";
import { scheduleLimits } from "../../protocol/schedule.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { RuleDates } from "./rule-dates.ts";

/** The next date at which the session continues without any input, in milliseconds since the epoch. `reached`: the date of a retry that has already fired. */
function nextDate(
  state: State,
  { reached, mayFire }: { reached?: number | undefined; mayFire?: RuleDates["mayFire"] } = {},
): number | undefined {
  const dates = [...runDates(state, reached)];
  const firing = nextFiring(state, mayFire);
  if (firing !== undefined) dates.push(firing);
  return dates.length === 0 ? undefined : Math.min(...dates);
}

function runDates({ run }: State, reached: number | undefined): readonly number[] {
  if (!run || run.abort) return [];
  const deadlines = run.calls.flatMap((call) => [...(isAwaited(call) ? [call.deadline ?? []] : []), deadlineBelow(run, call) ?? []].flat());
  return run.retry?.until === undefined || run.retry.until === reached ? deadlines : [...deadlines, run.retry.until];
}

/** Longer than the wait of any retry. */
const retryWaitMaxMs = 240_000;

/** True if a retry must still wait. A date further away than any retry was written under a wrong clock, and is ignored. */
export function isAhead(date: number, now: number): boolean {
  return date > now && date - now <= retryWaitMaxMs;
}

/** The longest wait of a timer; a longer one would fire at once. */
const timerMaxMs = 2 ** 31 - 1;

/** The one timer of a session: for its next date, or for the next try after a fault of the store. */
export interface DateTimer {
  /** Waits for the next date of this state instead of any other. */
  set(state: State): void;
  /** Waits after a fault of the store, twice as long after each consecutive fault, instead of for any other date. `isAwaited` false: does not wait. */
  setAfterFault(isAwaited: boolean): void;
  cancel(): void;
}

/** `onDate` may be called early, because the wait of a timer is limited. The timer ignores schedules that may not fire here. */
export function createDateTimer(clock: Clock, { onDate, mayFire }: { onDate(): void; mayFire: RuleDates["mayFire"] }): DateTimer {
  let cancel = (): void => {};
  let faults = 0;
  /** The date of the retry that the timer has fired for. The retry may wait for user code, and the date must not fire again meanwhile. */
  let reached: number | undefined;
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
      const date = nextDate(state, { reached, mayFire });
      if (date === undefined) return;
      const waitMs = Math.min(Math.max(0, date - clock.now()), timerMaxMs);
      const fire = (): void => {
        const until = state.run?.retry?.until;
        if (until !== undefined && until <= clock.now()) reached = until;
        onDate();
      };
      cancel = clock.after(waitMs, fire, { idle: isAtRest(state) });
    },
  };
}

/** The date when the session needs an owner, for `AppendRequest.due`. 0: now; `null`: not before the next append. */
export function dueOf(state: State): number | null {
  if (state.status !== "closed" && !isAtRest(state)) return 0;
  const dates = [state.status === "closed" ? undefined : nextDate(state), erasableAt(state)].flatMap((date) => date ?? []);
  return dates.length === 0 ? null : Math.min(...dates);
}

/** `dueOf` after a batch. A child in the background that has ended also needs an owner, which reports the end to the parent. */
export const dueAfter = (state: State): number | null => (state.status !== "closed" && owesReport(state) ? 0 : dueOf(state));

/**
 * When the session may be erased without a request: `keepMs` after its last fact; 0: its erasure has begun. `null`: the session is kept, has a hold,
 * or waits for a child in the background, whose end will be its next fact.
 */
export function erasableAt(
  { hold, erase, retention, background = [], status, updatedAt = 0 }: State,
  keepMs: number = Number.POSITIVE_INFINITY,
): number | null {
  if (hold) return null;
  if (erase) return 0;
  if (background.length > 0 && status !== "closed") return null;
  const kept = Math.min(retention?.keepMs ?? Number.POSITIVE_INFINITY, keepMs);
  return kept === Number.POSITIVE_INFINITY ? null : updatedAt + kept;
}

/** The facts for deadlines that have passed: the results of calls without an answer or a decision, and the resumption of calls that rest. */
export function expiredCalls({ run }: State, now: number): readonly FactBody[] {
  if (!run) return [];
  const { runId } = run;
  const late = run.calls.filter((call) => isAwaited(call) && call.deadline !== undefined && call.deadline <= now);
  return [...resumedCalls(run, now), ...late.map(expired)];

  function expired(call: Call): FactBody {
    const text =
      call.state === "awaiting_approval" ? "Not run: no decision was made before the deadline." : "No answer came before the deadline.";
    return closeCall(runId, call, { outcome: "expired", code: "TOOL_TIMEOUT", text });
  }
}

/** Resumes the calls that rest although a deadline below them has passed: their tools run again, and their children continue. */
function resumedCalls(run: Run, now: number): readonly FactBody[] {
  return run.calls.flatMap((call): readonly FactBody[] => {
    if (!call.child || (deadlineBelow(run, call) ?? Number.POSITIVE_INFINITY) > now) return [];
    return [{ type: "child.waiting", runId: run.runId, callKey: call.part.callKey, session: call.child.session, waits: [] }];
  });
}

/** The facts of schedules that are due: an input each, after the stop of the open run if the mode is `interrupt`; or the skip of a late date. */
export function dueFirings(
  state: State,
  now: number,
  { ids, dates }: { readonly ids: IdSource; readonly dates: RuleDates },
): readonly FactBody[] {
  if (state.status !== "open") return [];
  return readySchedules(state).flatMap((schedule): readonly FactBody[] => {
    const { id, due, input, rule } = schedule;
    if (due > now || !dates.mayFire(schedule)) return [];
    const next = dates.next(schedule, now);
    if (next === false) return [];
    if (schedule.missed === "skip" && now - due > scheduleLimits.lateMs) return [skipped(schedule, next)];
    const { mode = "enqueue", ...given } = input;
    const later = rule === undefined || next === undefined ? {} : { next };
    const origin = { type: "schedule", schedule: id, due, ...later } as const;
    const key = { idempotencyKey: firingKey(schedule) };
    const accepted: FactBody = { type: "input.accepted", inputId: ids.next(), runId: ids.next(), mode, ...given, ...key, origin };
    const { run } = state;
    if (mode !== "interrupt" || !run || run.abort) return [accepted];
    return [{ type: "abort.requested", runId: run.runId, reason: "interrupted" }, accepted];
  });
}

function skipped({ id, due, ...given }: Schedule, next: number | undefined): FactBody {
  if (next === undefined) return { type: "schedule.cleared", schedule: id };
  return { type: "schedule.set", schedule: id, ...given, due: next, skips: due };
}

/** True if a date of the session has come. */
export const isDue = (state: State, now: number, mayFire: RuleDates["mayFire"]): boolean =>
  expiredCalls(state, now).length > 0 || (nextFiring(state, mayFire) ?? Number.POSITIVE_INFINITY) <= now;
