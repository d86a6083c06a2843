import { type FactDraft, factVersion, type SessionRef } from "@loopwright/core";
import type { AppendRequest, SessionLog } from "@loopwright/core/ports";

/** Moment of the first sample fact. */
export const sampleAt = 1_767_225_600_000;

/** The session most cases write to. */
export const sampleRef: SessionRef = { scope: "local", session: "first" };

/** Another session of the same scope. */
export const secondRef: SessionRef = { scope: "local", session: "second" };

/** The titles of a log's facts; of a fact without one its type. */
export async function titlesIn(log: SessionLog, ref: SessionRef = sampleRef): Promise<readonly unknown[]> {
  return (await log.read(ref)).map((fact) => ("title" in fact ? fact.title : fact.type));
}

/** A small fact that differs from others. */
export function noteFact(title: string, at: number = sampleAt): FactDraft {
  return { type: "session.changed", title, at, v: factVersion };
}

/** Facts titled `<name> 1`, `<name> 2`, ... */
export function noteFacts(count: number, name = "note"): readonly FactDraft[] {
  return Array.from({ length: count }, (_, index) => noteFact(`${name} ${index + 1}`));
}

/** One batch of one small fact, named by its batch id. */
export function noteBatch(batchId: string, expectedSeq: number, more: Partial<AppendRequest> = {}): AppendRequest {
  return { batchId, expectedSeq, facts: [noteFact(batchId)], ...more };
}
