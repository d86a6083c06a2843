import { AgentError, isAgentError } from "@loopwright/core";
import type { BlobStore } from "@loopwright/core/ports";
import type { Json } from "@loopwright/core/protocol";
import { textDigest } from "../../identity/text-digest.ts";
import { keyPrefix, removeExpiredKeys } from "../../request/remove-expired-idempotency-keys.ts";
import type { RequestContext } from "../../request/route.ts";
import { idempotencyKeyOf } from "./read-idempotency-key.ts";

/** The content under an `Idempotency-Key`, for requests that the log does not record. */
export interface KeyedContent {
  /** The purpose of the key: the same key may be used for different purposes. */
  readonly purpose: string;
  /** The same key with other content is refused. */
  readonly content: Json;
  /** Data that is kept with the first request. */
  readonly note?: Json;
  /** The session of the request, if there is one: the kept data is deleted with it. */
  readonly session?: string | undefined;
}

export interface KeyedWork {
  /** True if the key came before with this content. The first request may have been carried out or not. */
  readonly isRepeat: boolean;
  /** The note of the first request, or the last note that `keep` wrote. */
  readonly note: Json | undefined;
  /** Writes the note for repetitions of the request. */
  keep(note: Json): Promise<void>;
}

interface Kept {
  readonly digest: string;
  /** The date of the first request, in milliseconds since the epoch. */
  readonly at: number;
  readonly note?: Json;
}

/**
 * Does the work of a request under its `Idempotency-Key`, also if another node got the first request. A refusal leaves the key free.
 * A key is kept for at least `limits.keyMaxAgeMs`, and is removed some time after that.
 * @throws AgentError KEY_REUSED when the key came with other content before
 */
export async function runUnderKey<T>(context: RequestContext, keyed: KeyedContent, work: (how: KeyedWork) => Promise<T>): Promise<T> {
  const { idempotencyKey } = idempotencyKeyOf(context.request);
  if (idempotencyKey === undefined) return work({ isRepeat: false, note: keyed.note, keep: async () => {} });
  const { scope, user } = context.principal;
  const { clock, limits, options } = context.server;
  const { blobs } = options.store;
  const at = clock.now();
  const name = `${keyPrefix}${await textDigest(JSON.stringify([user, keyed.purpose, idempotencyKey]))}`;
  const own: Kept = {
    digest: await textDigest(JSON.stringify(keyed.content)),
    at,
    ...(keyed.note === undefined ? {} : { note: keyed.note }),
  };
  const owner = keyed.session === undefined ? {} : { session: keyed.session };
  const first = await keep(blobs, { scope, name, own, owner });
  if (first && first.digest !== own.digest)
    throw new AgentError("KEY_REUSED", { message: "The idempotency key was used with another request." });
  try {
    const keepNote = async (note: Json): Promise<void> =>
      void (await blobs.put(scope, name, { ...blobOf({ ...(first ?? own), note }), ...owner }));
    const done = await work({ isRepeat: first !== undefined, note: (first ?? own).note, keep: keepNote });
    const isExpired = (kept: unknown): boolean => (kept as Kept).at < at - limits.keyMaxAgeMs;
    // Not awaited, because a failed removal is repeated with the next key.
    if (!first) removeExpiredKeys(blobs, { scope, name, isExpired }).catch(() => {});
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

/** Returns the kept record; for the first request, keeps its own and returns `undefined`. */
async function keep(blobs: BlobStore, { scope, name, own, owner }: Keeping): Promise<Kept | undefined> {
  if (await blobs.put(scope, name, { ...blobOf(own), ...owner, ifAbsent: true })) return undefined;
  const found = await blobs.get(scope, name, owner);
  // The record was deleted meanwhile: the first request was refused, or the session was deleted.
  return found ? (JSON.parse(new TextDecoder().decode(found.bytes)) as Kept) : undefined;
}

const blobOf = (kept: Kept): { readonly bytes: Uint8Array<ArrayBuffer>; readonly mediaType: string } => ({
  bytes: new TextEncoder().encode(JSON.stringify(kept)),
  mediaType: "application/json",
});

/** A copy of the value with only what JSON keeps. */
export const plainOf = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;
