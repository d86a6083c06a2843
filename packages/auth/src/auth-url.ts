/*
 * Owns: the verdict of a service that checks tokens, for each request.
 * Does not own: what a token is; rights.
 * Invariants
 *  V1 without a verdict no caller is let in: silence, errors, redirects and unreadable answers are 503, refusals are 401;
 *  V2 the token goes to the service alone, in a header, and a digest of it is the only trace here;
 *  V3 equal tokens that come at once are one request to the service; while it fails, it is asked once in five seconds.
 */
import { AgentError } from "@loopwright/core";
import { silentLogger, systemClock } from "@loopwright/core/memory";
import type { Clock, Logger } from "@loopwright/core/ports";
import { sha256 } from "@loopwright/core/stores";
import { type Authenticate, bearerToken, type Principal } from "@loopwright/server";
import { createCircuit } from "./circuit.ts";
import { type FetchLike, fetchJson, isSafeUrl } from "./fetch-json.ts";
import { isFields, readPrincipal } from "./read-principal.ts";
import { createVerdictCache } from "./verdict-cache.ts";

export interface AuthUrlOptions {
  /**
   * Gets `Authorization: Bearer <token>` of each request with GET. 200 with `{ user, scope, roles?, labels?, memberships?, expiresAt? }` lets the caller in; 401, 403 and
   * `{ "active": false }` refuse it. `https:`, or `http:` on this machine.
   */
  readonly url: string;
  /** The scope of callers for which the service names none. Default: none, so that they may do nothing. */
  readonly scope?: string;
  /** Default 2,000 milliseconds. */
  readonly timeoutMs?: number;
  /** How long a verdict counts, at most 60,000 milliseconds; a refusal at most 5,000. Default 0: each request asks. */
  readonly cacheMs?: number;
  readonly fetch?: FetchLike;
  readonly clock?: Clock;
  /** Gets the reason of each failure, without the token. */
  readonly logger?: Logger;
}

const bytesMax = 64 * 1024;
const cacheMaxMs = 60_000;
const refusalMaxMs = 5_000;

/** Asks a service about the token of each request. @throws AgentError CONFIG_INVALID */
export function authUrl(options: AuthUrlOptions): Authenticate {
  const { url, timeoutMs = 2_000, cacheMs = 0, clock = systemClock, logger = silentLogger } = options;
  // Read for each request, so that an application may replace it.
  const fetch: FetchLike = options.fetch ?? ((...asked) => globalThis.fetch(...asked));
  if (!isSafeUrl(url))
    throw new AgentError("CONFIG_INVALID", {
      message: "The address of the service that checks tokens is neither `https:` nor on this machine, or it holds a password.",
      fix: "Use `https:`, since tokens are sent to it.",
    });
  if (!(cacheMs >= 0 && cacheMs <= cacheMaxMs))
    throw new AgentError("CONFIG_INVALID", { message: `\`cacheMs\` is from 0 to ${cacheMaxMs}.`, fix: "Shorten it." });
  const cache = createVerdictCache(clock);
  const circuit = createCircuit(clock);
  const underWay = new Map<string, Promise<Principal | undefined>>();

  async function ask(token: string): Promise<Principal | undefined> {
    if (!circuit.mayTry()) throw noVerdict();
    try {
      const headers = { Authorization: `Bearer ${token}` };
      const { status, body } = await fetchJson(url, { fetch, clock, timeoutMs, bytesMax, headers });
      const principal = verdictOf(status, body, options.scope);
      circuit.succeeded();
      return principal;
    } catch (cause) {
      circuit.failed();
      logger.log("error", "The service that checks tokens gave no verdict, so the request was refused.", {
        reason: reasonOf(cause, token),
      });
      throw noVerdict();
    }
  }

  return async (request) => {
    const token = bearerToken(request);
    if (token === undefined) return undefined;
    const digest = await sha256(new TextEncoder().encode(token));
    const known = cache.get(digest);
    if (known) return known.principal;
    const asked = underWay.get(digest);
    if (asked) return asked;
    const asking = ask(token).finally(() => underWay.delete(digest));
    underWay.set(digest, asking);
    const principal = await asking;
    const keepMs = principal ? cacheMs : Math.min(cacheMs, refusalMaxMs);
    cache.keep(digest, principal, clock.now() + keepMs);
    return principal;
  };
}

/** The principal, or `undefined` for a refusal. Throws for an answer that is neither. */
function verdictOf(status: number, body: unknown, scope: string | undefined): Principal | undefined {
  if (status === 401 || status === 403) return undefined;
  if (status !== 200) throw new Error(`status ${status}`);
  if (isFields(body) && body["active"] === false) return undefined;
  const principal = readPrincipal(body, { scope });
  if (!principal) throw new Error("status 200 without a `user`");
  return principal;
}

const noVerdict = (): AgentError =>
  new AgentError("NOT_READY", {
    message: "The service that checks credentials gave no verdict, so the request was refused.",
    fix: "Send the request again in a moment.",
    retryAfterMs: 1_000,
  });

const reasonOf = (cause: unknown, token: string): string =>
  (cause instanceof Error ? cause.message : String(cause)).replaceAll(token, "[redacted]").slice(0, 300);
