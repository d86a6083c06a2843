import { isAgentError } from "@loopwright/core";
import type { AppendRequest, SessionLog, SessionRef } from "@loopwright/core/ports";

export const ref: SessionRef = { scope: "local", session: "first" };
export const other: SessionRef = { scope: "local", session: "second" };

/** One fact after the one of that number. */
export function batch(expectedSeq: number, title = "a title", more: Partial<AppendRequest> = {}): AppendRequest {
  return {
    expectedSeq,
    batchId: `${title} after ${expectedSeq}`,
    facts: [{ type: "session.changed", title, at: expectedSeq, v: 1 }],
    ...more,
  };
}

/** Appends facts 1 to `count`. */
export async function fill(log: SessionLog, count: number, into: SessionRef = ref): Promise<void> {
  for (let seq = 0; seq < count; seq++)
    await patiently(
      () => log.append(into, batch(seq, `${into.session} ${seq}`)),
      ({ type }) => type !== "unknown",
    );
}

/** Tries again until it does not reject for want of a server: a connection is made anew after a random moment. */
export async function patiently<T>(work: () => Promise<T>, isGood: (value: T) => boolean = () => true): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      const value = await work();
      if (isGood(value)) return value;
      if (tries > 500) throw new Error(`It stays ${JSON.stringify(value)}.`);
    } catch (error) {
      const mayPass = isAgentError(error) && ["STORE_UNAVAILABLE", "STORE_READ_ONLY", "CONFIG_INVALID"].includes(error.code);
      if (!mayPass || tries > 500) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
