import { AgentError } from "@loopwright/core";
import { storeLimits } from "../store-limits.ts";
import { type EntryHeader, sealEntry } from "./log-entry.ts";
import type { LogState } from "./log-state.ts";
import { type OpenLog, wholeState } from "./open-log.ts";

/** The entry for the next slot. */
export interface EntryDraft {
  readonly header: Omit<EntryHeader, "slot" | "from" | "factCount">;
  /** Facts as JSON, numbered from the tail on. */
  readonly lines?: readonly string[];
}

export type EntryOutcome =
  | { readonly type: "written" }
  | { readonly type: "full" }
  | { readonly type: "unknown" }
  /** The plan gave no draft. `mayBeOwn`: an earlier try may be what is in the log. */
  | { readonly type: "dropped"; readonly mayBeOwn: boolean };

/**
 * Puts an entry into the slot after the tail. The plan is asked for it at every try, with the log as it is by then, until the entry is in, the
 * plan wants it no more, or the time is over. The caller is inside the log's `run`.
 */
export async function writeEntry(log: OpenLog, plan: (state: LogState) => Promise<EntryDraft | undefined>): Promise<EntryOutcome> {
  const { blobs, clock, deadlineMs } = log.deps;
  const deadline = clock.monotonic() + deadlineMs;
  let mayBeOwn = false;
  for (let tries = 0; tries < storeLimits.slotTriesMax; tries++) {
    await log.expectTail();
    const state = wholeState(await log.known());
    const draft = await plan(state);
    if (!draft) return { type: "dropped", mayBeOwn };
    // The plan may have looked again and learnt more.
    const newest = await log.known();
    if (newest !== state) continue;
    const { header, lines = [] } = draft;
    const slot = state.slot + 1;
    const key = log.keys.slot(slot);
    const { bytes, entry } = sealEntry({ slot, from: state.lastSeq + 1, factCount: lines.length, ...header }, lines, {
      key,
      before: state.digest,
    });
    const outcome = await blobs.put(key, bytes, { ifNoneMatch: true });
    if (outcome.type === "written") {
      state.apply(entry);
      return { type: "written" };
    }
    if (outcome.type === "full") return outcome;
    // From here on what is in the log decides.
    log.isUncertain = true;
    if (outcome.type === "unknown") return outcome;
    mayBeOwn ||= outcome.mayBeOwn;
    const after = await log.advance();
    // The faster process may have seen damage since this one opened the log.
    if (!outcome.mayBeOwn) await log.lookForMark();
    if (after.slot >= slot) continue;
    // Refused, and yet nothing to see: a write at the same moment that failed, or one that is not visible yet.
    log.isUncertain = true;
    if (clock.monotonic() >= deadline) break;
    await log.pause(tries);
  }
  return { type: "unknown" };
}

/** For entries whose outcome cannot be reported to the caller. @throws AgentError STORE_UNAVAILABLE, STORE_FULL */
export function checkWritten(outcome: EntryOutcome, log: OpenLog): void {
  if (outcome.type === "full")
    throw new AgentError("STORE_FULL", { message: `There is no space left for session \`${log.ref.session}\`.` });
  if (outcome.type === "unknown") throw noAnswer(log);
}

/** The place did not answer in time what became of a write. */
export function noAnswer({ ref }: OpenLog): AgentError {
  return new AgentError("STORE_UNAVAILABLE", { message: `The store did not answer in time about session \`${ref.session}\`.` });
}
