/*
 * Owns: one attempt to deliver.
 * Invariants: the socket goes to an address that the guard has admitted, and no redirect is followed; no error has the secret or the body.
 */

import { type Clock, isAgentError } from "@loopwright/core/protocol";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { parseUrl, type UrlGuard } from "@loopwright/url-guard";
import { signedHeaders } from "./signature.ts";
import { answerMs, retryMaxMs } from "./webhook-limits.ts";

/** What became of an attempt. */
export type Outcome =
  | { readonly kind: "taken" }
  /** It may be taken later. */
  | { readonly kind: "failed"; readonly reason: string; readonly retryAfterMs?: number }
  /** It takes others perhaps, but not this one as it is. */
  | { readonly kind: "rejected"; readonly reason: string }
  /** The target will never take anything: it is gone, or must not be reached. */
  | { readonly kind: "refused"; readonly reason: string };

/** What is sent to one target. */
export interface Delivery {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly id: string;
  readonly body: string;
}

/** Sends deliveries. */
export interface Poster {
  post(delivery: Delivery, signal: AbortSignal): Promise<Outcome>;
  close(): void;
}

/** Sends deliveries to what the guard admits. */
export function deliveryPoster(guard: UrlGuard, clock: Pick<Clock, "now" | "after">): Poster {
  const fetch = nodeHttp({ addressesOf: async (url) => (await guard.admit(url)).addresses });
  return {
    close: () => fetch.close(),
    async post({ url, secrets, id, body }, signal) {
      const deadline = new AbortController();
      const cancel = clock.after(answerMs, () => deadline.abort());
      try {
        const signed = signedHeaders(secrets, { id, timestamp: Math.floor(clock.now() / 1_000), body });
        const headers = { "Content-Type": "application/json", "User-Agent": "loopwright", ...signed };
        const answer = await fetch(parseUrl(url), { method: "POST", headers, body, signal: AbortSignal.any([signal, deadline.signal]) });
        await answer.body?.cancel();
        return outcomeOf(answer);
      } catch (error) {
        const reason = isAgentError(error) ? error.details?.["reason"] : undefined;
        if (typeof reason === "string" && reason !== "host_not_found")
          return { kind: "refused", reason: `its address may not be reached (${reason})` };
        return {
          kind: "failed",
          reason: deadline.signal.aborted ? `it did not answer in ${answerMs / 1_000} seconds` : "it could not be reached",
        };
      } finally {
        cancel();
      }
    },
  };
}

/** Answers about the content of one delivery: malformed, too large, of a type or a content that is not taken. */
const rejections: ReadonlySet<number> = new Set([400, 413, 415, 422]);

function outcomeOf({ status, ok, headers }: Response): Outcome {
  if (ok) return { kind: "taken" };
  if (rejections.has(status)) return { kind: "rejected", reason: `it answered ${status}` };
  if (status === 410) return { kind: "refused", reason: "it answered 410, gone" };
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? Math.min(retryMaxMs, seconds * 1_000) : undefined;
  return { kind: "failed", reason: `it answered ${status}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
