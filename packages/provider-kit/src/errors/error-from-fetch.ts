import { AgentError, type ErrorCode, isAgentError } from "@loopwright/core";
import { proxyRefused } from "./proxy-refused.ts";

/** Where an error of the transport came from. */
export interface FetchErrorContext {
  /** Name for people, for example `OpenAI`. */
  readonly provider: string;
  /** The call's own signal. */
  readonly signal: AbortSignal;
  /** True once the answer's headers were there: what breaks then is the stream. Default: judged by the error. */
  readonly streaming?: boolean;
}

/**
 * What to throw for an error of the transport: the signal's reason when the call was aborted, an `AgentError` (or the one that caused it) as it is,
 * MODEL_UNREACHABLE, MODEL_STREAM_BROKEN or MODEL_TIMEOUT for trouble of the network, CONFIG_INVALID for an address that is
 * none, MODEL_PROTOCOL for JSON that is none, INTERNAL for anything that only a bug explains.
 */
export function errorFromFetch(error: unknown, context: FetchErrorContext): unknown {
  if (context.signal.aborted) return context.signal.reason;
  const known = causesOf(error).find((each) => isAgentError(each));
  if (known !== undefined) return known;
  const { provider } = context;
  const codes = codesOf(error);
  const name = codes[0] ?? nameOf(error);
  if (error instanceof SyntaxError) {
    return new AgentError("MODEL_PROTOCOL", { message: `${provider} sent a body that is not JSON.`, cause: error });
  }
  if (codes.includes("ERR_INVALID_URL") || codes.includes("ERR_INVALID_PROTOCOL")) {
    return new AgentError("CONFIG_INVALID", {
      message: `The base URL of ${provider} is not a valid address.`,
      fix: "Pass a `baseURL` that begins with http:// or https://.",
      cause: error,
    });
  }
  const certificate = codes.find((code) => certificateCode.test(code));
  if (certificate !== undefined) {
    return new AgentError("MODEL_UNREACHABLE", {
      message: `The certificate of ${provider}'s server was not accepted (${certificate}).`,
      fix: "Check the base URL; for a private authority set NODE_EXTRA_CA_CERTS or pass its certificate to the transport.",
      retryable: false,
      cause: error,
    });
  }
  if (causesOf(error).some((each) => each instanceof Error && proxyMessage.test(each.message))) return proxyRefused(provider, error);
  if (codes.length === 0 && !isNetworkMessage(error)) {
    return new AgentError("INTERNAL", { message: `Unexpected ${nameOf(error)} in a call of ${provider}.`, cause: error });
  }
  const broken = context.streaming ?? isBrokenStream(error);
  const code: ErrorCode = codes.some((each) => timeoutCodes.has(each))
    ? "MODEL_TIMEOUT"
    : broken
      ? "MODEL_STREAM_BROKEN"
      : "MODEL_UNREACHABLE";
  const what = broken ? `The connection to ${provider} broke in the middle of the answer` : `The connection to ${provider} failed`;
  return new AgentError(code, { message: `${what} (${name}).`, cause: error });
}

/** The error for a stream that ended before the vendor's own end; `what` names what is missing, for example "its finish reason". */
export function streamBroken(provider: string, what: string): AgentError {
  return new AgentError("MODEL_STREAM_BROKEN", { message: `The answer of ${provider} ended without ${what}.` });
}

const timeoutCodes: ReadonlySet<string> = new Set([
  "ETIMEDOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const certificateCode = /CERT|^UNABLE_TO_|^ERR_TLS_|^ERR_SSL_/;
/** The words of undici for a proxy that wants a password, for a tunnel and for a plain request (Node.js 26, 2026-11-21). */
const proxyMessage = /proxy (?:response|authentication required) \(407\)/i;
const causesMax = 8;

/** The codes along the chain of causes, outermost first. */
function codesOf(error: unknown): readonly string[] {
  const codes = causesOf(error).map((each): unknown => ("code" in each ? each.code : undefined));
  return codes.filter((code): code is string => typeof code === "string" && /^[A-Z][A-Z0-9_]+$/.test(code));
}

/** The error and what caused it, outermost first. */
export function causesOf(error: unknown): readonly object[] {
  const chain: object[] = [];
  let at: unknown = error;
  while (chain.length < causesMax && typeof at === "object" && at !== null) {
    chain.push(at);
    // Happy eyeballs fails with one error per address.
    at = at instanceof AggregateError && at.errors.length > 0 ? at.errors[0] : "cause" in at ? at.cause : undefined;
  }
  return chain;
}

/** The words of browsers, undici and Bun, where no code exists. */
function isNetworkMessage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^(?:terminated|fetch failed|failed to fetch|load failed|network ?error.*|networkerror.*|connection error.*|aborted|premature close|other side closed|socket hang up|.*unable to connect.*)\.?$/i.test(
    error.message,
  );
}

function isBrokenStream(error: unknown): boolean {
  return error instanceof Error && /terminated|aborted|premature close|other side closed/i.test(error.message);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
