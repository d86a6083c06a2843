import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import { secretOf } from "../settings/secret-of.ts";
import { oneLine } from "../terminal/neutralise.ts";

/** Flags of `run` about callers with credentials of their own. */
export interface AuthFlags {
  readonly authUrl?: string;
  readonly authCache?: string;
  readonly authScope?: string;
  readonly jwtIssuer?: string;
  readonly jwtAudience?: string;
  readonly jwtKeys?: string;
  readonly jwtAlgorithms?: string;
  readonly jwtClaims?: string;
  readonly internalToken?: string;
  readonly unshared?: string;
}

/** How callers are identified, beside the one token of `--token`. */
export interface AuthSettings {
  /** A service that gets the token of each request. */
  readonly service?: { readonly url: string; readonly cacheMs: number };
  /** An issuer of JWTs. Without `keys` they are found by discovery. */
  readonly issuer?: {
    readonly issuer: string;
    readonly audience: readonly string[];
    readonly keys?: string;
    readonly algorithms: readonly string[];
    readonly claims: { readonly [part: string]: string | readonly string[] };
  };
  readonly internalToken?: string;
  /** The scope of callers whose credentials name none. Absent: these may do nothing. */
  readonly scope?: string;
  /** What other users of a scope may do in a session that was never shared. Absent: it does not exist for them. */
  readonly unshared?: "viewer" | "member";
}

const cacheMaxSeconds = 60;
const tokenMin = 16;
const claimParts: ReadonlySet<string> = new Set(["user", "scope", "scopes", "roles"]);

/** Absent: callers have no credentials of their own. @throws AgentError CONFIG_INVALID */
export function authSettings(flags: AuthFlags): AuthSettings | undefined {
  const url = flags.authUrl;
  const issuer = issuerOf(flags);
  const internalToken = internalTokenOf(flags);
  const cacheSeconds = flags.authCache === undefined ? 0 : cacheOf(flags.authCache);
  const scope = flags.authScope === undefined ? undefined : scopeOf(flags.authScope);
  const unshared = flags.unshared === undefined ? undefined : unsharedOf(flags.unshared);
  if (url === undefined && flags.authCache !== undefined) throw alone("--auth-cache", "--auth-url");
  if (url === undefined && !issuer && scope !== undefined) throw alone("--auth-scope", "--auth-url or --jwt-issuer");
  if (url === undefined && !issuer && internalToken === undefined) {
    if (unshared !== undefined) throw alone("--unshared", "--auth-url or --jwt-issuer");
    return undefined;
  }
  return {
    ...(url === undefined ? {} : { service: { url, cacheMs: cacheSeconds * 1_000 } }),
    ...(issuer ? { issuer } : {}),
    ...(internalToken === undefined ? {} : { internalToken }),
    ...(scope === undefined ? {} : { scope }),
    ...(unshared === undefined ? {} : { unshared }),
  };
}

const alone = (flag: string, other: string): AgentError =>
  new AgentError("CONFIG_INVALID", { message: `\`${flag}\` has no effect without ${other}.`, fix: `Pass ${other} too, or leave it out.` });

const listOf = (text: string): readonly string[] => text.split(",").flatMap((one) => one.trim() || []);

function issuerOf(flags: AuthFlags): AuthSettings["issuer"] {
  const { jwtIssuer: issuer, jwtKeys: keys } = flags;
  const audience = listOf(flags.jwtAudience ?? "");
  if (issuer === undefined) {
    const given = (["jwtAudience", "jwtKeys", "jwtAlgorithms", "jwtClaims"] as const).find((name) => flags[name] !== undefined);
    if (given) throw alone(given.replace("jwt", "--jwt-").toLowerCase(), "--jwt-issuer");
    return undefined;
  }
  if (audience.length === 0)
    throw new AgentError("CONFIG_INVALID", {
      message: "`--jwt-issuer` needs an audience: without one, tokens for other services would be accepted.",
      fix: "Pass `--jwt-audience` or LOOPWRIGHT_JWT_AUDIENCE, as `aud` of the tokens has it.",
    });
  return {
    issuer,
    audience,
    ...(keys === undefined ? {} : { keys }),
    algorithms: listOf(flags.jwtAlgorithms ?? "RS256"),
    claims: claimsOf(flags.jwtClaims ?? ""),
  };
}

/** `user=sub,roles=realm_access.roles`. A name that is an address keeps its dots. */
function claimsOf(text: string): NonNullable<AuthSettings["issuer"]>["claims"] {
  const pairs = listOf(text).map((pair): [string, string | readonly string[]] => {
    const at = pair.indexOf("=");
    const [part, name] = [pair.slice(0, at), pair.slice(at + 1)];
    if (at < 1 || name === "" || !claimParts.has(part))
      throw new AgentError("CONFIG_INVALID", {
        message: `\`${oneLine(pair, 80)}\` names no claim of a caller.`,
        fix: "Pass `--jwt-claims` such as `user=sub,scope=team,scopes=teams,roles=realm_access.roles`.",
      });
    return [part, /^https?:/.test(name) ? name : name.split(".")];
  });
  return Object.fromEntries(pairs);
}

function internalTokenOf(flags: AuthFlags): string | undefined {
  const token = secretOf(flags.internalToken, "--internal-token or LOOPWRIGHT_INTERNAL_TOKEN");
  if (token === undefined || token.length >= tokenMin) return token;
  throw new AgentError("CONFIG_INVALID", {
    message: `The internal token has fewer than ${tokenMin} characters and could be guessed.`,
    fix: "Take a longer one, such as `openssl rand -hex 24` prints.",
  });
}

function cacheOf(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= cacheMaxSeconds) return seconds;
  throw new AgentError("CONFIG_INVALID", {
    message: `\`${oneLine(text, 40)}\` is no time for which a verdict may count.`,
    fix: `Pass seconds from 0 to ${cacheMaxSeconds} with \`--auth-cache\`.`,
  });
}

function scopeOf(text: string): string {
  if (isId(text)) return text;
  throw new AgentError("CONFIG_INVALID", {
    message: `\`${oneLine(text, 80)}\` is no scope.`,
    fix: "Pass lower-case letters, digits, `-` and `_` with `--auth-scope`.",
  });
}

function unsharedOf(text: string): "viewer" | "member" {
  if (text === "viewer" || text === "member") return text;
  throw new AgentError("CONFIG_INVALID", {
    message: `\`${oneLine(text, 40)}\` is no right in a session.`,
    fix: "Pass `viewer` or `member` with `--unshared`, or leave it out.",
  });
}
