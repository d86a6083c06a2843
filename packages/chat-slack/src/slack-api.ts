/*
 * Owns: requests to the Web API: their deadlines and their errors.
 * Invariants
 *  R1 no error has a token or the text of a message; R2 the vendor's client repeats nothing and logs nothing: the bridge waits as long as a 429 asks for.
 */
import { AgentError } from "@loopwright/core/protocol";
import {
  type Logger,
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebClient,
  type WebClientOptions,
} from "@slack/web-api";
import { requestMs } from "./slack-limits.ts";

const ignore = (): void => {};

/** The vendor's clients write bodies of requests to their log. */
export const silentLogger: Logger = {
  ...{ debug: ignore, info: ignore, warn: ignore, error: ignore, setLevel: ignore, setName: ignore },
  getLevel: () => LogLevel.ERROR,
};

interface ApiParts {
  /** Default: Slack's own. */
  readonly apiUrl: string | undefined;
  /** Aborted: open requests end. */
  readonly signal: AbortSignal;
}

/** How clients of the Web API send their requests. */
export function requestOptions({ apiUrl, signal }: ApiParts): Omit<WebClientOptions, "logger" | "logLevel"> {
  return {
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
    ...{ retryConfig: { retries: 0 }, rejectRateLimitedCalls: true, timeout: requestMs, allowAbsoluteUrls: false },
    fetch: (url, init) => fetch(url, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal }),
  };
}

/** The Web API as one bot. */
export function slackApi({ token, ...parts }: ApiParts & { readonly token: string }): WebClient {
  return new WebClient(token, { ...requestOptions(parts), logger: silentLogger });
}

const inNames = (names: string): ReadonlySet<string> => new Set(names.split(" "));
const badTokens = inNames(
  "invalid_auth not_authed account_inactive token_revoked token_expired not_allowed_token_type user_removed_from_team team_disabled",
);
const closedChats = inNames(
  "channel_not_found not_in_channel is_archived cannot_dm_bot thread_not_found restricted_action restricted_action_read_only_channel restricted_action_thread_locked user_not_found",
);
const passing = inNames(
  "internal_error fatal_error service_unavailable request_timeout team_added_to_org accesslimited org_login_required",
);
const limited = inNames("ratelimited rate_limited");

/** The error of a request as the bridge reads it; without the request. */
export function errorOfSlack(error: unknown): AgentError {
  if (error instanceof WebAPIRateLimitedError)
    return new AgentError("RATE_LIMITED", { message: "Slack limits the requests of the app.", retryAfterMs: error.retryAfter * 1_000 });
  if (error instanceof WebAPIPlatformError) return errorOfCode(error.data);
  const status = error instanceof WebAPIHTTPError ? error.statusCode : undefined;
  if (status === 413) return new AgentError("INPUT_INVALID", { message: "A message is too large for Slack." });
  return new AgentError("NOT_READY", {
    message: status === undefined ? "Slack did not answer." : `Slack answered with ${status}.`,
    fix: "Check the connection, and the address where another one is configured.",
  });
}

/** The code of a refusal; `undefined` for another failure. */
export const codeOf = (error: unknown): string | undefined => (error instanceof WebAPIPlatformError ? nameIn(error.data.error) : undefined);

/** A code as Slack writes them, and nothing else: the answer of a proxy may hold anything. */
const nameIn = (code: unknown): string => (typeof code === "string" && /^[a-z_]{1,60}$/.test(code) ? code : "unreadable");

function errorOfCode({ error, needed }: { readonly error?: unknown; readonly needed?: unknown }): AgentError {
  const code = nameIn(error);
  const message = `Slack refused a request with \`${code}\`.`;
  if (badTokens.has(code))
    return new AgentError("UNAUTHENTICATED", {
      message,
      fix: "Check SLACK_BOT_TOKEN (`xoxb-`, of the app's installation) and SLACK_APP_TOKEN (`xapp-`, with the scope connections:write).",
    });
  if (code === "missing_scope")
    return new AgentError("INPUT_INVALID", {
      message,
      fix: `Give the app the scope ${/^[a-z:._,]{1,200}$/.test(String(needed)) ? String(needed) : "that it lacks"} and install it again.`,
    });
  if (closedChats.has(code))
    return new AgentError("FORBIDDEN", { message, fix: "The bot was removed from the channel, or may not write there any more." });
  if (limited.has(code)) return new AgentError("RATE_LIMITED", { message });
  if (passing.has(code) || code === "unreadable") return new AgentError("NOT_READY", { message, fix: "It is tried again." });
  return new AgentError("INPUT_INVALID", { message, fix: "See Slack's page about this error." });
}

/** Passes on what a request gives. @throws AgentError as the bridge reads it */
export async function translated<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw errorOfSlack(error);
  }
}
