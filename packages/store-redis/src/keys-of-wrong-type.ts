import { isAgentError } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { Connection } from "./connection/connection.ts";
import { unreadable } from "./connection/redis-fault.ts";
import type { StoreKeys } from "./keys.ts";

/** The answer to what was asked of keys of one session alone: where they have another type the session is damaged, not the store. */
export async function ofSession<T>({ session }: SessionRef, asking: Promise<T>): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    throw isAgentError(error, "STORE_CORRUPT") ? unreadable(session) : error;
  }
}

/** True when a key of the session that the log needs holds a value of another type. */
export async function isUnreadable(
  { connection, keys }: { readonly connection: Connection; readonly keys: StoreKeys },
  ref: SessionRef,
): Promise<boolean> {
  const { meta, facts, batches } = keys.session(ref);
  const looks = [
    ["HGET", meta, "seq"],
    ["XRANGE", facts, "-", "+", "COUNT", "1"],
    ["HGET", batches, ""],
  ] as const;
  const outcomes = await Promise.all(looks.map((words) => connection.ask(words)));
  return outcomes.some((outcome) => outcome.type === "refused" && outcome.refusal.word === "WRONGTYPE");
}
