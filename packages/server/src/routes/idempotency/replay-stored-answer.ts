import { AgentError, isAgentError } from "@loopwright/core";
import type { BlobStore } from "@loopwright/core/ports";
import type { Json } from "@loopwright/core/protocol";
import { keyPrefix, removeOldKeys } from "../../request/old-keys.ts";
import type { RequestContext } from "../../request/route.ts";
import { idempotencyKeyOf } from "./read-idempotency-key.ts";

/** What an `Idempotency-Key` came with, where the log has no place for it. */
export interface KeyedContent {
  /** What the key is for: the same one may be used for other things. */
  readonly purpose: string;
  /** The same key with other content is refused. */
  readonly content: Json;
  /** Kept with the first one. */
  readonly note?: Json;
  /** The session that the request is about, where there is one: what is kept goes with it. */
  readonly session?: string | undefined;
}

export interface KeyedWork {
  /** The key came before with this content; what was done then may be all of it, or nothing. */
  readonly isRepeat: boolean;
  /** What was noted when it came first, or since. */
  readonly note: Json | undefined;
  /** Notes what its repeats find. */
  keep(note: Json): Promise<void>;
}

interface Kept {
  readonly digest: string;
  /** When it came, milliseconds since the epoch. */
  readonly at: number;
  readonly note?: Json;
}

/**
 * Does the work of a request under its `Idempotency-Key`, whichever node was asked before. Work that is refused leaves the key free.
 * A key counts for `limits.keyMaxAgeMs`, and is removed some time after that.
 * @throws AgentError KEY_REUSED when the key came with other content before
 */
export async function runUnderKey<T>(context: RequestContext, keyed: KeyedContent, work: (how: KeyedWork) => Promise<T>): Promise<T> {
  const { idempotencyKey } = idempotencyKeyOf(context.request);
  if (idempotencyKey === undefined) return work({ isRepeat: false, note: keyed.note, keep: async () => {} });
  const { scope, user } = context.principal;
  const { clock, limits, options } = context.server;
  const { blobs } = options.store;
  const at = clock.now();
  const name = `${keyPrefix}${await digestOf([user, keyed.purpose, idempotencyKey])}`;
  const own: Kept = { digest: await digestOf(keyed.content), at, ...(keyed.note === undefined ? {} : { note: keyed.note }) };
  const owner = keyed.session === undefined ? {} : { session: keyed.session };
  const first = await keep(blobs, { scope, name, own, owner });
  if (first && first.digest !== own.digest)
    throw new AgentError("KEY_REUSED", { message: "The idempotency key was used with another request." });
  try {
    const keepNote = async (note: Json): Promise<void> =>
      void (await blobs.put(scope, name, { ...blobOf({ ...(first ?? own), note }), ...owner }));
    const done = await work({ isRepeat: first !== undefined, note: (first ?? own).note, keep: keepNote });
    const isOld = (kept: unknown): boolean => (kept as Kept).at < at - limits.keyMaxAgeMs;
    // Not awaited: the next key removes what is left.
    if (!first) removeOldKeys(blobs, { scope, name, isOld }).catch(() => {});
    return done;
  } catch (error) {
    const isRefused = isAgentError(error) && !error.retryable;
    if (!first && isRefused) await blobs.remove(scope, name).catch(() => {});
    throw error;
  }
}

interface Keeping {
  readonly scope: string;
  readonly name: string;
  readonly own: Kept;
  readonly owner: { readonly session?: string };
}

/** What was kept before; `undefined` where this is the first. */
async function keep(blobs: BlobStore, { scope, name, own, owner }: Keeping): Promise<Kept | undefined> {
  if (await blobs.put(scope, name, { ...blobOf(own), ...owner, ifAbsent: true })) return undefined;
  const found = await blobs.get(scope, name, owner);
  // Gone meanwhile: the first one was refused, or the session was deleted.
  return found ? (JSON.parse(new TextDecoder().decode(found.bytes)) as Kept) : undefined;
}

const blobOf = (kept: Kept): { readonly bytes: Uint8Array<ArrayBuffer>; readonly mediaType: string } => ({
  bytes: new TextEncoder().encode(JSON.stringify(kept)),
  mediaType: "application/json",
});

/** What came as JSON, as such. */
export const plainOf = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

async function digestOf(value: Json): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(value)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
