/*
 * Owns: login sessions of the page, which a cookie names: begun with the credentials of a caller, kept in the store, ended by sign-out or by time.
 * Does not own: which caller signs in (`authenticate`), the check of other origins (`http/check-origin.ts`).
 * Invariants
 *  C1 no script of the page reads the cookie (`HttpOnly`), and pages of other sites cannot send it (`SameSite=Strict`);
 *  C2 a request that changes something counts only if the browser states that this server's own page sent it;
 *  C3 a cookie is valid only while its credentials are: the store keeps them, encrypted with a key from the secret of the cookie, and they are checked again;
 *  C4 each sign-in makes a new secret. Signing in with a cookie replaces the old login session, and the new one does not end later.
 */
import { AgentError } from "@loopwright/core";
import { requestHost } from "../request-host.ts";
import type { ServerContext } from "../server-context.ts";
import type { CookieOptions, HttpOptions, Principal } from "../server-options.ts";
import { type Credentials, openCredentials, sealCredentials } from "./sealed-credentials.ts";
import { keepPrincipal, placeOfSecret, readKept, type SecretPlace, writeKept } from "./stored-principal.ts";

type CookieContext = Pick<ServerContext, "clock" | "options" | "verdicts">;

const defaultAgeMs = 12 * 3_600_000;
/** How long a replaced cookie is still accepted, for requests that are under way. */
const graceMs = 30_000;

const optionsOf = ({ cookies }: HttpOptions): CookieOptions | undefined =>
  cookies === undefined || cookies === false ? undefined : cookies === true ? {} : cookies;

/** True if the server has login by cookie. */
export const hasCookies = (options: HttpOptions): boolean => optionsOf(options) !== undefined;

/** Browsers do not separate cookies by port, so the name contains the port. They accept the prefix `__Host-` only over TLS and from this host. */
const nameFor = (request: Request, isSecure: boolean): string => {
  const port = /:(\d+)$/.exec(requestHost(request))?.[1];
  return `${isSecure ? "__Host-" : ""}loopwright${port === undefined ? "" : `-${port}`}`;
};

/** The secret in the cookies of a request. */
function secretIn(request: Request): string | undefined {
  const names = new Set([nameFor(request, true), nameFor(request, false)]);
  const pairs = (request.headers.get("Cookie") ?? "").split(";").map((pair) => pair.trim().split("=", 2));
  // The name that only TLS can set comes first.
  const found = pairs
    .filter(([name = ""]) => names.has(name))
    .sort(([a = ""], [b = ""]) => Number(b.startsWith("_")) - Number(a.startsWith("_")));
  return found[0]?.[1];
}

/**
 * The principal that `authenticate` now returns for the credentials of the request's cookie; `undefined`: the request has no valid cookie. The cookie of
 * a request with an `Authorization` header is ignored.
 * @throws AgentError ORIGIN_REFUSED for a cookie that another page may have sent, STORE_*, an error of `authenticate`
 */
export async function cookiePrincipal(
  request: Request,
  server: CookieContext & { readonly isAnew?: boolean },
  authenticate: (request: Request) => Principal | undefined | Promise<Principal | undefined>,
): Promise<Principal | undefined> {
  if (!hasCookies(server.options) || request.headers.has("Authorization")) return undefined;
  const secret = secretIn(request);
  const place = await placeIn(request, server);
  if (!place || secret === undefined) return undefined;
  if (!isOwnPage(request))
    throw new AgentError("ORIGIN_REFUSED", {
      message: "A cookie is accepted only with requests that this server's own page sends.",
      fix: "Send `Authorization: Bearer <token>` from programs and from other pages.",
    });
  const kept = await readKept(server.options.store.blobs, place);
  if (!kept || (kept.replacedAt ?? Number.POSITIVE_INFINITY) + graceMs <= server.clock.now()) return undefined;
  const { sealed = "", principal: signedIn } = kept;
  const principal = await server.verdicts.of(place.key, server.isAnew === true, async () => {
    const credentials = await openCredentials(secret, sealed);
    return credentials && authenticate(new Request(request.url, { headers: { ...credentials, ...credentialsIn(request) } }));
  });
  if (!principal || principal.user !== signedIn.user || principal.memberships === "any") return undefined;
  return { ...principal, expiresAt: Math.min(principal.expiresAt ?? Number.POSITIVE_INFINITY, place.endsAt) };
}

/** The headers that may hold credentials or identify the caller in another way: `Authorization`, and those that begin with `X-` except two of our own. */
function credentialsIn({ headers }: Request): Credentials {
  const isOne = (name: string): boolean =>
    name === "authorization" || (name.startsWith("x-") && !["x-scope", "x-file-name"].includes(name));
  return Object.fromEntries([...headers].filter(([name]) => isOne(name)));
}

async function placeIn(request: Request, { clock }: CookieContext): Promise<SecretPlace | undefined> {
  const secret = secretIn(request);
  return secret === undefined ? undefined : placeOfSecret("login", secret, clock.now());
}

const isSafe = (method: string): boolean => method === "GET" || method === "HEAD";

/** Decides by two headers that browsers set and scripts cannot change. A GET or HEAD may lack both: a page of another origin cannot read its response. */
function isOwnPage(request: Request): boolean {
  const site = request.headers.get("Sec-Fetch-Site");
  const origin = request.headers.get("Origin");
  if (site !== null && site !== "same-origin" && !(site === "none" && isSafe(request.method))) return false;
  if (origin !== null) return URL.canParse(origin) && new URL(origin).host === requestHost(request);
  return isSafe(request.method) || site === "same-origin";
}

/**
 * Begins a login session; returns the value of `Set-Cookie` and when the session ends. The login session of the request is replaced.
 * @throws AgentError FORBIDDEN for a service that may act in all scopes, STORE_*
 */
export async function beginCookieSession(
  request: Request,
  principal: Principal,
  server: CookieContext,
): Promise<{ readonly cookie: string; readonly expiresAt: number }> {
  if (principal.memberships === "any")
    throw new AgentError("FORBIDDEN", {
      message: "A service that may act in all scopes cannot sign in with a cookie.",
      fix: "Send its token with each request. The token may be bound to the place that it is sent from, and a cookie would not be.",
    });
  const { blobs } = server.options.store;
  const now = server.clock.now();
  const { ageMs = defaultAgeMs } = optionsOf(server.options) ?? {};
  const expiresAt = Math.min(now + ageMs, principal.expiresAt ?? Number.POSITIVE_INFINITY);
  const before = await placeIn(request, server);
  const kept = before ? await readKept(blobs, before) : undefined;
  // The credentials of a caller that signs in with a cookie are those stored for that cookie.
  const credentials = { ...(await openCredentials(secretIn(request) ?? "", kept?.sealed ?? "")), ...credentialsIn(request) };
  const { user, scope } = principal;
  const secret = await keepPrincipal(blobs, "login", {
    scope,
    keptFor: async (made) => ({ principal: { user, scope }, sealed: await sealCredentials(made, credentials) }),
    endsAt: expiresAt,
    now,
  });
  if (before && kept) await writeKept(blobs, before, { ...kept, replacedAt: kept.replacedAt ?? now });
  return { cookie: cookieText(request, server, { secret, ageMs: expiresAt - now }), expiresAt };
}

/** Ends the login session of the request; returns a value of `Set-Cookie` that removes the cookie. @throws AgentError STORE_* */
export async function endCookieSession(request: Request, server: CookieContext): Promise<string> {
  const place = await placeIn(request, server);
  if (place) await server.options.store.blobs.remove(place.scope, place.key);
  return cookieText(request, server, { secret: "", ageMs: 0 });
}

function cookieText(
  request: Request,
  { options }: CookieContext,
  { secret, ageMs }: { readonly secret: string; readonly ageMs: number },
): string {
  const isOverTls = new URL(request.url).protocol === "https:" || (request.headers.get("Origin")?.startsWith("https:") ?? false);
  const isSecure = optionsOf(options)?.secure ?? isOverTls;
  const name = nameFor(request, isSecure);
  return `${name}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${Math.floor(ageMs / 1_000)}${isSecure ? "; Secure" : ""}`;
}
