/*
 * The log holds since when its session needs an owner; a mark under `due/` lets that be found without looking into every log. A mark is put before
 * the entry that needs it, and removed after the entry that makes it void: a crash leaves one too many, never one too few. Its name holds the
 * slot of its entry, so that the mark of a later entry is not removed by mistake.
 */
import { isAgentError } from "@loopwright/core";
import type { DueOptions, DueSession } from "@loopwright/core/ports";
import { inParallel } from "../in-parallel.ts";
import { listAll } from "../list-all.ts";
import { type DueMark, dueMarkKey, dueMarkOf, dueMarks, markedDate } from "../object-keys.ts";
import { storeLimits } from "../store-limits.ts";
import type { HeldSessions } from "./held-sessions.ts";
import { runningLease } from "./lease.ts";
import type { EntryDue } from "./log-entry.ts";
import type { LogState } from "./log-state.ts";
import type { OpenLog } from "./open-log.ts";
import type { OpenLogs } from "./open-logs.ts";
import { putMark } from "./put-mark.ts";

/** The date that the next entry has to hold; `undefined`: none, the log holds it already. */
export function dueEntry(state: LogState, due: number | null | undefined): EntryDue | null | undefined {
  if (due === undefined || due === (state.due?.at ?? null)) return undefined;
  return due === null ? null : { at: due, slot: state.slot + 1 };
}

const markOf = (log: OpenLog, { at, slot }: EntryDue): DueMark => ({ ref: log.ref, date: markedDate(at), slot });

/** Puts the mark that an entry needs. @throws AgentError STORE_UNAVAILABLE, STORE_FULL */
export const putDueMark = (log: OpenLog, due: EntryDue): Promise<void> => putMark(log, dueMarkKey(markOf(log, due)));

/** Removes a mark that the log has overtaken. One that stays is removed when the list is asked for. */
export async function dropDueMark(log: OpenLog, due: EntryDue): Promise<void> {
  await log.deps.blobs.remove(dueMarkKey(markOf(log, due))).catch(() => undefined);
}

export interface DueParts {
  readonly logs: OpenLogs;
  /** Deletes what is left of a session whose removal was cut short. */
  readonly finish: (log: OpenLog) => Promise<void>;
  readonly held: HeldSessions;
}

/** The sessions whose date has come and that no lease holds. Finishes removals that were cut short. */
export async function dueSessions(parts: DueParts, { now, limit = 100, after }: DueOptions): Promise<readonly DueSession[]> {
  const found: DueSession[] = [];
  const marks = (await marksUntil(parts.logs, now, after?.due)).filter(({ ref }) => !parts.held.isHeld(ref));
  for (let at = 0; at < marks.length && found.length < limit; at += storeLimits.parallelMax) {
    const some = await inParallel(marks.slice(at, at + storeLimits.parallelMax), (mark) => judgeMark(parts, mark));
    for (const one of some) if (one && one.due <= now && (!after || byDate(one, after) > 0) && !found.some(isSame(one))) found.push(one);
  }
  return found.sort(byDate).slice(0, limit);
}

/** The marks of dates that have come, by date, then scope, then session. */
async function marksUntil({ deps: { blobs } }: OpenLogs, now: number, from: number | undefined): Promise<readonly DueMark[]> {
  const start = from === undefined ? undefined : dueMarks + String(markedDate(from)).padStart(16, "0");
  const marks: DueMark[] = [];
  for await (const { key } of listAll(blobs, dueMarks, start)) {
    const mark = dueMarkOf(key);
    if (!mark) continue;
    if (mark.date > now) break;
    marks.push(mark);
  }
  return marks.sort((a, b) => byDate({ due: a.date, ref: a.ref }, { due: b.date, ref: b.ref }) || a.slot - b.slot);
}

const isSame =
  ({ ref }: DueSession) =>
  (other: DueSession): boolean =>
    other.ref.scope === ref.scope && other.ref.session === ref.session;

/** The session of a mark, where the mark is true; a void one is removed. */
async function judgeMark({ logs, finish, held }: DueParts, mark: DueMark): Promise<DueSession | undefined> {
  const log = logs.of(mark.ref);
  return log.run(async () => {
    try {
      const state = await log.current();
      const isTrue = state.due !== null && state.due.slot === mark.slot && markedDate(state.due.at) === mark.date;
      // A mark of a slot to come is about to become true.
      const isComing = mark.slot > state.slot && !state.isRemoved;
      if (state.isRemoved) await finish(log);
      // A damaged log stays in the list: the node that opens it gets SESSION_CORRUPT and raises the alarm.
      else if (state.damage || state.flaw) return { ref: mark.ref, due: mark.date };
      if (!isTrue && !isComing) {
        await dropDueMark(log, { at: mark.date, slot: mark.slot });
        return undefined;
      }
      const lease = await runningLease(log, state);
      if (lease) {
        held.saw(mark.ref, lease.remainingMs);
        return undefined;
      }
      return { ref: mark.ref, due: isTrue && state.due ? state.due.at : mark.date };
    } catch (error) {
      if (isAgentError(error, "SESSION_CORRUPT") || isAgentError(error, "STORE_TOO_NEW")) return { ref: mark.ref, due: mark.date };
      throw error;
    }
  });
}

function byDate(a: DueSession, b: DueSession): number {
  return a.due - b.due || order(a.ref.scope, b.ref.scope) || order(a.ref.session, b.ref.session);
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
