import type { AppendOutcome, AppendRequest, SessionLog, SessionRef } from "../ports/session-log.ts";
import { faultyLog } from "./faulty-log.ts";
import type { LogUnderTest } from "./log-under-test.ts";
import type { ManualClock } from "./manual-clock.ts";
import type { Make } from "./store-case.ts";

type Spoil = (real: SessionLog, clock: ManualClock) => Partial<SessionLog>;

/** A log in memory some methods of which were replaced; `reopen` and `another` are honest, they give the same log. */
export function spoiledLog(spoil: Spoil): Make<LogUnderTest> {
  return async () => {
    const { clock, log: real, ...subject } = faultyLog();
    const log: SessionLog = { ...real, ...spoil(real, clock) };
    return { ...subject, log, reopen: async () => log, another: async () => log };
  };
}

/** A log in memory with another `append`. */
export function appending(
  append: (real: SessionLog, ref: SessionRef, request: AppendRequest) => Promise<AppendOutcome>,
): Make<LogUnderTest> {
  return spoiledLog((real) => ({ append: (ref, request) => append(real, ref, request) }));
}

let batchCount = 0;

/** A batch id that was never used. */
export function freshBatchId(): string {
  batchCount++;
  return `another ${batchCount}`;
}
