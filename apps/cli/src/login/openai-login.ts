/*
 * Owns: the requests of a login at OpenAI: the address for the browser, the tokens of a code, fresh tokens for old ones.
 * Does not own: where tokens are kept (kept-login), the callback of the browser (login).
 */
import { createHash, randomBytes } from "node:crypto";
import { AgentError, isAgentError } from "@loopwright/core";
import type { Environment } from "../config/environment.ts";

/** What stands in OPENAI_API_KEY in place of a key where a login counts. */
export const loginSentinel = "__oauth__";

/** Where a login happens and where its tokens count. */
export interface LoginPlace {
  /** The authorisation server, without a slash at its end. */
  readonly issuer: string;
  readonly clientId: string;
  /** The API that takes the tokens. */
  readonly apiUrl: string;
}

/** Tokens of a login. */
export interface LoginTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** The account that requests name. */
  readonly accountId?: string;
}

const requestMs = 20_000;
/** That of a token whose server names none. */
const lifeSecondsDefault = 3_600;

/** The place of the variables; default: that of the command line of OpenAI. @throws AgentError CONFIG_INVALID */
export function loginPlace(environment: Environment): LoginPlace {
  const address = (name: string, usual: string): string => {
    const text = environment[name] ?? usual;
    const { protocol, hostname } = URL.parse(text) ?? {};
    // Tokens travel there: in clear on this machine alone.
    if (protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname ?? "")))
      return text.replace(/\/+$/, "");
    throw new AgentError("CONFIG_INVALID", { message: `${name} is no https address.`, fix: "Set one such as `https://auth.openai.com`." });
  };
  return {
    issuer: address("LOOPWRIGHT_OPENAI_ISSUER", "https://auth.openai.com"),
    clientId: environment["LOOPWRIGHT_OPENAI_CLIENT_ID"] ?? "app_EMoamEEZ73f0CkXaXp7hrann",
    apiUrl: address("LOOPWRIGHT_OPENAI_LOGIN_URL", "https://chatgpt.com/backend-api/codex"),
  };
}

/** One login that has begun. */
export interface BegunLogin {
  /** What the browser opens. */
  readonly url: string;
  /** What the callback brings back. */
  readonly state: string;
  /** What proves that the code is ours. */
  readonly verifier: string;
  readonly redirectUri: string;
}

/** The address for the browser, with the digest of a fresh verifier (PKCE). */
export function beginLogin({ issuer, clientId }: LoginPlace, redirectUri: string): BegunLogin {
  const [state, verifier] = [randomBytes(24).toString("base64url"), randomBytes(48).toString("base64url")];
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: "openid profile email offline_access",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    id_token_add_organizations: "true",
    codex_cli_simplified_flow: "true",
    state,
  });
  return { url: `${issuer}/oauth/authorize?${query.toString()}`, state, verifier, redirectUri };
}

/** The tokens of a code. @throws AgentError MODEL_AUTH, MODEL_UNREACHABLE, MODEL_PROTOCOL */
export const tokensOfCode = (place: LoginPlace, { verifier, redirectUri }: BegunLogin, code: string): Promise<LoginTokens> =>
  askForTokens(place, { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier });

/** Fresh tokens; the old refresh token stays where the server sends no other. @throws AgentError MODEL_AUTH when the login has ended, MODEL_UNREACHABLE, MODEL_PROTOCOL */
export const refreshedTokens = (place: LoginPlace, old: LoginTokens): Promise<LoginTokens> =>
  askForTokens(place, { grant_type: "refresh_token", refresh_token: old.refreshToken, scope: "openid profile email" }, old);

async function askForTokens(
  { issuer, clientId }: LoginPlace,
  form: Readonly<Record<string, string>>,
  old?: LoginTokens,
): Promise<LoginTokens> {
  const answer = await posted(`${issuer}/oauth/token`, new URLSearchParams({ ...form, client_id: clientId }));
  const { access_token: accessToken, refresh_token: refreshToken = old?.refreshToken, expires_in: lifeSeconds, id_token: idToken } = answer;
  if (typeof accessToken !== "string" || accessToken === "" || typeof refreshToken !== "string" || refreshToken === "")
    throw new AgentError("MODEL_PROTOCOL", { message: "The authorisation server of OpenAI sent no tokens.", retryable: false });
  const accountId = accountOf(idToken) ?? old?.accountId;
  const life = typeof lifeSeconds === "number" && lifeSeconds > 0 ? lifeSeconds : lifeSecondsDefault;
  return { accessToken, refreshToken, expiresAt: Date.now() + life * 1_000, ...(accountId === undefined ? {} : { accountId }) };
}

async function posted(url: string, body: URLSearchParams): Promise<Readonly<Record<string, unknown>>> {
  try {
    const response = await fetch(url, { method: "POST", body, redirect: "error", signal: AbortSignal.timeout(requestMs) });
    const value: unknown = await response.json().catch(() => ({}));
    if (response.ok) return typeof value === "object" && value !== null ? { ...value } : {};
    const isRefused = response.status >= 400 && response.status < 500 && response.status !== 408 && response.status !== 429;
    throw new AgentError(isRefused ? "MODEL_AUTH" : "MODEL_UNREACHABLE", {
      message: `The authorisation server of OpenAI answered with the status ${response.status}${isRefused ? ": the login has ended. Log in again with `loopwright login`" : ""}.`,
    });
  } catch (error) {
    if (isAgentError(error)) throw error;
    // Its text may have the address with its query; its cause is left out with it.
    throw new AgentError("MODEL_UNREACHABLE", { message: "The authorisation server of OpenAI did not answer." });
  }
}

/** The account in an id token, which came from the issuer itself. */
function accountOf(idToken: unknown): string | undefined {
  if (typeof idToken !== "string") return undefined;
  try {
    const claims = JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString("utf8")) as Record<string, unknown>;
    const { chatgpt_account_id: account } = (claims["https://api.openai.com/auth"] ?? {}) as Record<string, unknown>;
    return typeof account === "string" && /^[\w-]{1,100}$/.test(account) ? account : undefined;
  } catch {
    return undefined;
  }
}
