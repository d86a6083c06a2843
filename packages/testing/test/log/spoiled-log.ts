import type { SessionRef } from "@loopwright/core";
import type { ManualClock } from "@loopwright/core/memory";
import type { AppendOutcome, AppendRequest, SessionLog } from "@loopwright/core/ports";
import type { Make } from "../../src/kit/store-case.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { faultyLog } from "./faulty-log.ts";

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
