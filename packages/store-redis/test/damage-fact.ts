import type { SessionRef } from "@loopwright/core/ports";
import type { RedisProcess } from "@loopwright/simulator/node";
import type { Tampering } from "@loopwright/testing";
import { createClient } from "@redis/client";
import { sumOf } from "../src/log/fact-chain.ts";

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

/** As an attacker that knows the seals of this store can. */
export function sealedAnew(ref: SessionRef, entry: RawEntry, b: string): RawEntry {
  const [before] = (entry.message["c"] ?? "").split(" ");
  return { ...entry, message: { ...entry.message, b, c: `${before} ${sumOf(ref, b)}` } };
}

/** Does this to the entry of one fact. */
export function tamperWithFact(
  redis: RedisProcess,
  { prefix, ref, seq, way }: { readonly prefix: string; readonly ref: SessionRef; readonly seq: number; readonly way: Tampering },
): Promise<void> {
  return rewriteFacts(redis, { prefix, ref }, (entries) => {
    const [before, own] = [entries[seq - 2], entries[seq - 1]];
    if (!before || !own) throw new Error(`There is no fact ${seq} behind another one.`);
    if (way === "missing") return entries.filter((entry) => entry !== own);
    if (way === "changed") {
      const forged = sealedAnew(ref, own, (own.message["b"] ?? "").replace(/"title":"[^"]*"/, '"title":"forged"'));
      return entries.map((entry) => (entry === own ? forged : entry));
    }
    const moved = entries.slice(seq - 1).map(({ message }, at) => ({ id: `${seq + 1 + at}-0`, message }));
    return [...entries.slice(0, seq - 1), { id: own.id, message: before.message }, ...moved];
  });
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
