import type { AppendRequest, SessionLog, SessionRef } from "@loopwright/core/ports";

/** The session most tests write to. */
export const ref: SessionRef = { scope: "local", session: "first" };

/** A batch of small facts named by its id. */
export function noteBatch(
  batchId: string,
  expectedSeq: number,
  more: Partial<AppendRequest> & { readonly count?: number } = {},
): AppendRequest {
  const { count = 1, ...rest } = more;
  const facts = Array.from({ length: count }, (_, at) => ({ type: "session.changed" as const, title: `${batchId}.${at}`, at: 1, v: 1 }));
  return { batchId, expectedSeq, facts, ...rest };
}

/** The titles of a log. */
export async function titlesOf(log: SessionLog, of: SessionRef = ref): Promise<readonly string[]> {
  return (await log.read(of)).map((fact) => ("title" in fact ? String(fact.title) : fact.type));
}

/** Writes batches of one fact each, `b1`, `b2`, ... to an empty log. */
export async function writeNotes(log: SessionLog, count: number, of: SessionRef = ref): Promise<void> {
  for (let seq = 0; seq < count; seq++) {
    const outcome = await log.append(of, noteBatch(`b${seq + 1}`, seq));
    if (outcome.type !== "ok") throw new Error(`Batch ${seq + 1} was answered ${outcome.type}.`);
  }
}
