import type { SessionRef } from "@loopwright/core";
import type { DueOptions, SessionLog } from "@loopwright/core/ports";
import { noteBatch, sampleAt, sampleRef } from "../samples/sample-facts.ts";
import type { LogUnderTest } from "./log-under-test.ts";

/** Long after the dates of all cases. */
export const later: number = sampleAt + 1_000_000;

/** The sessions due then, as `scope/session date`, the date counted from the sample moment. */
export async function dueOf(log: SessionLog, options: Partial<DueOptions> = {}): Promise<readonly string[]> {
  return (await log.due({ now: later, ...options })).map(({ ref, due }) => `${ref.scope}/${ref.session} ${due - sampleAt}`);
}

/** One fact in a session, with a date so long after the sample moment; `null`: with none. */
export function dated(log: SessionLog, ref: SessionRef, afterMs: number | null): Promise<unknown> {
  return log.append(ref, noteBatch("b1", 0, { due: afterMs === null ? null : sampleAt + afterMs }));
}

/** A log with one dated session. */
export async function withDate(make: () => Promise<LogUnderTest>): Promise<LogUnderTest> {
  const subject = await make();
  await dated(subject.log, sampleRef, 5);
  return subject;
}

/** The result of `dueOf` for it. */
export const firstDue: readonly string[] = ["local/first 5"];
