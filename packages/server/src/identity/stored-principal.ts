/*
 * Owns: principals that are kept under a secret: of logins by cookie, and of tickets for streams. They are blobs of their scope, so that every node knows them.
 * Does not own: which caller gets a secret, and how long it is valid.
 * Invariants
 *  K1 the store has a digest of a secret, never the secret: a reader of the store cannot use it;
 *  K2 a secret names its scope and its end, so that an expired secret causes no read, and an invented one at most one;
 *  K3 expired principals are removed when new ones are stored.
 */
import { isId, type SessionStore } from "@loopwright/core/ports";
import type { Principal } from "../server-options.ts";
import { textDigest } from "./text-digest.ts";

type Blobs = SessionStore["blobs"];

/** What is kept under a secret. */
export interface StoredPrincipal {
  readonly principal: Pick<Principal, "user" | "scope"> & Partial<Principal>;
  /** The credentials of a sign-in, encrypted with a key that only its secret gives. */
  readonly sealed?: string;
  /** The path that a ticket is valid for. */
  readonly path?: string;
  /** When another login replaced this one, which then ends before its secret expires. */
  readonly replacedAt?: number;
}

/** The place in the store that a secret names. */
export interface SecretPlace {
  readonly scope: string;
  readonly key: string;
  readonly endsAt: number;
}

export type SecretKind = "ticket" | "login";

const secretBytes = 32;
/** How many expired principals each new one removes: more than one, so that all of them are removed in time. */
const removedAtOnce = 4;
const pattern = /^([a-z0-9][a-z0-9_-]{0,63})\.([0-9a-z]{8,9})\.([A-Za-z0-9_-]{43})$/;

/** The place of a secret; `undefined`: the text cannot be a secret, or the secret has expired. */
export async function placeOfSecret(kind: SecretKind, secret: string, now: number): Promise<SecretPlace | undefined> {
  const [, scope = "", end = ""] = pattern.exec(secret) ?? [];
  const endsAt = Number.parseInt(end, 36);
  if (!isId(scope) || !(endsAt > now)) return undefined;
  return { scope, endsAt, key: keyOf(kind, endsAt, await textDigest(secret)) };
}

/** Keys sort by the end of their secrets, so that a list begins with the expired ones. */
const keyOf = (kind: SecretKind, endsAt: number, digest: string): string => `${kind}-${String(endsAt).padStart(15, "0")}-${digest}`;

interface Keeping {
  readonly scope: string;
  /** The principal that is stored for a secret. */
  readonly keptFor: (secret: string) => StoredPrincipal | Promise<StoredPrincipal>;
  readonly endsAt: number;
  readonly now: number;
}

/** Keeps a principal of the scope until `endsAt`, and returns the secret for it. @throws AgentError STORE_* */
export async function keepPrincipal(blobs: Blobs, kind: SecretKind, { scope, keptFor, endsAt, now }: Keeping): Promise<string> {
  const random = crypto.getRandomValues(new Uint8Array(secretBytes));
  const text = btoa(String.fromCharCode(...random))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  const secret = `${scope}.${endsAt.toString(36)}.${text}`;
  await writeKept(blobs, { scope, key: keyOf(kind, endsAt, await textDigest(secret)) }, await keptFor(secret));
  // Not awaited, because a failed removal is repeated with the next secret.
  removeExpired(blobs, { kind, scope, now }).catch(() => {});
  return secret;
}

/** Replaces the principal at a place. @throws AgentError STORE_* */
export async function writeKept(blobs: Blobs, { scope, key }: Pick<SecretPlace, "scope" | "key">, kept: StoredPrincipal): Promise<void> {
  await blobs.put(scope, key, { bytes: new TextEncoder().encode(JSON.stringify(kept)), mediaType: "application/json" });
}

/** @throws AgentError STORE_* */
export async function readKept(blobs: Blobs, { scope, key }: SecretPlace): Promise<StoredPrincipal | undefined> {
  const blob = await blobs.get(scope, key);
  if (!blob) return undefined;
  const kept = JSON.parse(new TextDecoder().decode(blob.bytes)) as StoredPrincipal;
  return kept.principal.scope === scope ? kept : undefined;
}

/** Removes the oldest of the expired principals. Resolves with their number. */
async function removeExpired(
  blobs: Blobs,
  { kind, scope, now }: { readonly kind: SecretKind; readonly scope: string; readonly now: number },
): Promise<number> {
  const keys = await blobs.list(scope, { prefix: `${kind}-`, limit: removedAtOnce });
  const expired = keys.filter((key) => Number(key.split("-")[1]) <= now);
  await Promise.all(expired.map((key) => blobs.remove(scope, key)));
  return expired.length;
}
