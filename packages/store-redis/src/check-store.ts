import { isAgentError } from "@loopwright/core";
import { refKey, type SessionRef } from "@loopwright/core/ports";
import type { Connection } from "./connection/connection.ts";
import { listOf, textOf } from "./connection/reply.ts";
import type { StoreKeys } from "./keys.ts";
import type { FactReader } from "./log/fact-reader.ts";

/** What is in a store, and what is wrong with it. */
export interface RedisReport {
  readonly where: string;
  readonly sessionCount: number;
  readonly factCount: number;
  /** Sessions whose log is damaged or has gone back to an older state, as `scope/session`. */
  readonly damaged: readonly string[];
}

const scanCount = 500;
const factsPerRead = 2_000;

/** Reads every log from its start and verifies it. */
export async function checkStore(parts: {
  readonly connection: Connection;
  readonly keys: StoreKeys;
  readonly reader: FactReader;
}): Promise<RedisReport> {
  const damaged: string[] = [];
  let sessionCount = 0;
  let factCount = 0;
  for await (const ref of sessionsOf(parts)) {
    const count = await factsOf(parts.reader, ref);
    if (count === undefined) damaged.push(refKey(ref));
    else if (count > 0) sessionCount++;
    if (count !== undefined) await parts.connection.answer(["HDEL", parts.keys.session(ref).meta, "damaged"]);
    factCount += count ?? 0;
  }
  return { where: parts.connection.where, sessionCount: sessionCount + damaged.length, factCount, damaged: damaged.sort() };
}

/** How many facts a log has; `undefined` for a damaged one. */
async function factsOf(reader: FactReader, ref: SessionRef): Promise<number | undefined> {
  let count = 0;
  try {
    for (;;) {
      const facts = await reader.read(ref, { from: count + 1, limit: factsPerRead });
      count += facts.length;
      if (facts.length < factsPerRead) return count;
    }
  } catch (error) {
    if (isAgentError(error, "SESSION_CORRUPT") || isAgentError(error, "HISTORY_LOST")) return undefined;
    throw error;
  }
}

/** Every session that has left a trace, each once. */
async function* sessionsOf({
  connection,
  keys,
}: {
  readonly connection: Connection;
  readonly keys: StoreKeys;
}): AsyncGenerator<SessionRef> {
  const seen = new Set<string>();
  let cursor = "0";
  do {
    const words = ["SCAN", cursor, "MATCH", `${keys.sessions}*}:meta`, "COUNT", String(scanCount)];
    const [next, found] = listOf(await connection.answer(words));
    cursor = textOf(next) ?? "0";
    for (const key of listOf(found)) {
      const ref = refOf((textOf(key) ?? "").slice(keys.sessions.length, -"}:meta".length));
      if (!ref || seen.has(`${ref.scope}.${ref.session}`)) continue;
      seen.add(`${ref.scope}.${ref.session}`);
      yield ref;
    }
  } while (cursor !== "0");
}

/** The keys of blobs are any text; some may look like those of a session. */
function refOf(tag: string): SessionRef | undefined {
  const [, scope, session] = /^([a-z0-9_-]+)\.([a-z0-9_-]+)$/.exec(tag) ?? [];
  return scope && session ? { scope, session } : undefined;
}
