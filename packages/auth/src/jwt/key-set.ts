/*
 * Owns: the public keys of an issuer: fetched, kept, fetched again when a token names one that is not known.
 * Does not own: which algorithms count, and the check of signatures (jose).
 * Invariants
 *  J1 keys are fetched from the configured address alone, whatever a token names;
 *  J2 at most one fetch in 30 seconds once there are keys, one in a second before, and one at a time;
 *  J3 known keys count while the address does not answer, for a day; without keys there is no verdict.
 */
import { AgentError } from "@loopwright/core";
import type { Clock, Logger } from "@loopwright/core/ports";
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { type FetchLike, fetchJson } from "../fetch-json.ts";
import { isFields } from "../read-principal.ts";

export interface KeySetOptions {
  /** Where the keys are. */
  readonly url: () => string | Promise<string>;
  readonly fetch: FetchLike;
  readonly clock: Clock;
  readonly logger: Logger;
}

const freshMs = 600_000;
const staleMaxMs = 86_400_000;
const pauseMs = 30_000;
const firstPauseMs = 1_000;
const timeoutMs = 3_000;
const bytesMax = 256 * 1024;
const keysMax = 100;

/** The key for a token, as jose asks for it. The function throws AgentError NOT_READY while there are no keys. */
export function createKeySet({ url, fetch, clock, logger }: KeySetOptions): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;

  async function load(): Promise<void> {
    triedAt = clock.now();
    try {
      const { status, body } = await fetchJson(await url(), { fetch, clock, timeoutMs, bytesMax });
      if (status !== 200) throw new Error(`status ${status}`);
      keys = createLocalJWKSet(keySetOf(body));
      fetchedAt = clock.now();
    } catch (cause) {
      const reason = (cause instanceof Error ? cause.message : String(cause)).slice(0, 300);
      logger.log("error", "The keys of the issuer could not be fetched.", { reason, hasKeys: keys !== undefined });
    }
  }
  const refresh = async (): Promise<void> => {
    const isTooSoon = clock.now() - triedAt < (keys ? pauseMs : firstPauseMs);
    if (!fetching && isTooSoon) return;
    fetching ??= load().finally(() => {
      fetching = undefined;
    });
    await fetching;
  };
  const known = (): JWTVerifyGetKey => {
    if (keys && clock.now() - fetchedAt < staleMaxMs) return keys;
    throw new AgentError("NOT_READY", {
      message: "The server has no keys to check tokens with, so the request was refused.",
      fix: "Send the request again in a moment.",
      retryAfterMs: 1_000,
    });
  };

  return async (header, token) => {
    const ageMs = clock.now() - fetchedAt;
    // Old keys count while newer ones are fetched.
    if (ageMs >= freshMs) await (keys && ageMs < staleMaxMs ? void refresh() : refresh());
    const before = known();
    try {
      return await before(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh();
      return known()(header, token);
    }
  };
}

function keySetOf(body: unknown): JSONWebKeySet {
  const keys = isFields(body) ? body["keys"] : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > keysMax) throw new Error(`no set of 1 to ${keysMax} keys`);
  // A shared secret is no public key: with one in the set, every reader could sign.
  return { keys: keys.filter((key) => isFields(key) && key["kty"] !== "oct") } as JSONWebKeySet;
}
