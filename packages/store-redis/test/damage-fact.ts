import type { SessionRef } from "@loopwright/core/ports";
import type { RedisProcess } from "@loopwright/simulator/node";
import { createClient } from "@redis/client";

/** Entries of a log as Redis keeps them. */
export interface RawEntry {
  readonly id: string;
  readonly message: Record<string, string>;
}

/** Writes the stream of a log anew, past the store. */
export async function rewriteFacts(
  redis: RedisProcess,
  { prefix, ref }: { readonly prefix: string; readonly ref: SessionRef },
  change: (entries: readonly RawEntry[]) => readonly RawEntry[],
): Promise<void> {
  const client = createClient({ url: redis.url });
  await client.connect();
  const key = `${prefix}:{${ref.scope}.${ref.session}}:facts`;
  const entries = (await client.xRange(key, "-", "+")) ?? [];
  if (entries.length === 0) throw new Error(`There is no log under ${key}.`);
  await client.del(key);
  for (const { id, message } of change(entries)) await client.xAdd(key, id, message);
  await client.close();
}

/** Changes the last letter but one of a fact. */
export function damageFact(
  redis: RedisProcess,
  { prefix, ref, seq }: { readonly prefix: string; readonly ref: SessionRef; readonly seq: number },
): Promise<void> {
  return rewriteFacts(redis, { prefix, ref }, (entries) =>
    entries.map(({ id, message }) =>
      id === `${seq}-0` ? { id, message: { ...message, b: `${message["b"]?.slice(0, -2)}7}` } } : { id, message },
    ),
  );
}
