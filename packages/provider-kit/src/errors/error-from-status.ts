import { AgentError, type ErrorClass, type ErrorCode, errorTable } from "@loopwright/core";
import type { VendorError } from "./error-body.ts";
import { proxyRefused } from "./proxy-refused.ts";
import { vendorText } from "./redact.ts";
import { retryAfterMs } from "./retry-after.ts";
import { waitInText } from "./wait-in-text.ts";

/** A wait that is longer than this many milliseconds is no rate limit but a spent quota. */
export const rateLimitWaitMaxMs = 60_000;

/** A call that the vendor answered with an error. */
export interface StatusErrorInput extends VendorError {
  /** Name for people, for example `OpenAI`. */
  readonly provider: string;
  /** The HTTP status; absent for an error sent inside a stream that began with 200. */
  readonly status?: number;
  readonly headers?: Headers;
  /** Taken out of the vendor's text verbatim: the key. */
  readonly secrets?: readonly string[];
  /** The wait that the body names. Default: read from the headers, then, for a rate limit, from the vendor's sentence. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * The error for a call that the vendor answered with an error: the one classification of all providers. The message is ours, with the status and the
 * vendor's id of the request; `details` hold them, type and code. The vendor's own sentence, which may repeat the prompt, is for the operator's log:
 * `vendorMessageOf(error)` gives it, without secrets and cut to `vendorTextMax`.
 */
export function errorFromStatus(input: StatusErrorInput): AgentError {
  const inText = input.status === undefined || input.status === 429 ? waitInText(input.message) : undefined;
  const wait = input.retryAfterMs ?? retryAfterMs(input.headers) ?? inText;
  const code = classify(input, wait);
  if (input.status === 407) return proxyRefused(input.provider, input.cause);
  const written = input.message === undefined ? "" : vendorText(input.message, input.secrets);
  const status = input.status === undefined ? "reported an error" : `answered with status ${input.status}`;
  const requestId = requestIdOf(input);
  const [type, vendorCode] = [wordOf(input.type, input.secrets), wordOf(input.code, input.secrets)];
  const forced = stays.has(errorTable[code].class) ? undefined : shouldRetry(input.headers);
  return new AgentError(code, {
    message: `${input.provider} ${status}: ${meaningOf(code)}${requestId === undefined ? "" : ` (request ${requestId})`}`,
    retryAfterMs: wait,
    ...(forced === undefined ? {} : { retryable: forced }),
    details: {
      ...(input.status === undefined ? {} : { status: input.status }),
      ...(type === undefined ? {} : { type }),
      ...(vendorCode === undefined ? {} : { code: vendorCode }),
      ...(requestId === undefined ? {} : { requestId }),
    },
    ...(written === "" ? {} : { vendorMessage: written }),
    ...(input.cause === undefined ? {} : { cause: input.cause }),
  });
}

/** Our own words for a code, as the end of a sentence. */
function meaningOf(code: ErrorCode): string {
  const { meaning } = errorTable[code];
  return `${meaning.slice(0, 1).toLowerCase()}${meaning.slice(1).replace(/\.$/, "")}`;
}

const requestIdHeaders = ["request-id", "x-request-id", "x-goog-request-id", "apim-request-id", "x-amzn-requestid"];

/** The id by which the vendor finds the call in its own logs. */
function requestIdOf({ headers, requestId, secrets }: StatusErrorInput): string | undefined {
  const named = requestIdHeaders.map((name) => headers?.get(name) ?? undefined).find((id) => id !== undefined);
  return wordOf(requestId ?? named, secrets);
}

/** A vendor's type, code or id where it is one: a single word, without a secret. Sentences may repeat what was sent. */
function wordOf(text: string | undefined, secrets: readonly string[] = []): string | undefined {
  if (text === undefined || !/^[\w.:/-]{1,80}$/.test(text)) return undefined;
  return vendorText(text, secrets) === text ? text : undefined;
}

/** Codes of errors that another try cannot change, even where a header asks for one. */
const stays: ReadonlySet<ErrorClass> = new Set<ErrorClass>(["auth", "billing"]);

/** The vendors' own SDKs let this header win over every status. */
function shouldRetry(headers: Headers | undefined): boolean | undefined {
  const header = headers?.get("x-should-retry");
  return header === "true" ? true : header === "false" ? false : undefined;
}

/** Words of types, codes and sentences, by what they mean; the first line that fits wins. */
const meanings: readonly (readonly [ErrorCode, RegExp])[] = [
  // Signed or encrypted thinking of an earlier answer that the vendor takes no more; the words of Anthropic, OpenAI and Gemini (2026-11-22).
  [
    "MODEL_THINKING_REFUSED",
    /invalid `?(?:signature|data)`? in `?(?:redacted_)?thinking`? block|`?thinking`? or `?redacted_thinking`? blocks in the latest assistant message cannot be modified|expected `?thinking`?(?: or `?redacted_thinking`?)?,? but found|must start with a `?thinking`? block|bound to a different conversation|thinking\.signature|invalid_encrypted_content|encrypted content\b.{0,200}could not be (?:verified|decrypted|parsed)|of type '?reasoning'? was provided without its required following item|was provided without its required '?reasoning'? item|item with id '?rs_[^ ]* not found|thought[_ ]?signature/,
  ],
  [
    "MODEL_QUOTA_EXHAUSTED",
    /insufficient_quota|billing_error|billing_hard_limit|credit balance|credits? (?:are |is )?(?:depleted|exhausted)|insufficient (?:balance|credits|funds)|exceeded your current quota|payment required|perday/,
  ],
  [
    "CONTEXT_OVERFLOW",
    /context_length_exceeded|context_window_exceeded|request_too_large|context[ _](?:length|window|size)|maximum context|prompt is too long|input (?:is too long|token count .* exceeds|length and)|too many (?:input )?tokens|exceeds? the (?:maximum number of tokens|available context)|reduce the length/,
  ],
  [
    "MODEL_AUTH",
    /authentication_error|permission_error|permission_denied|unauthenticated|invalid_api_key|incorrect api key|api[ _]key[ _](?:not valid|invalid|expired|is invalid)|invalid api[ -]key|api_key_invalid|unauthorized/,
  ],
  [
    "MODEL_NOT_FOUND",
    /model_not_found|not_found_error|\bnot_found\b|model .{0,120}(?:does not exist|not found|is not supported for)|unknown model/,
  ],
  [
    "MODEL_REFUSED",
    /content_policy_violation|content_filter|responsibleaipolicyviolation|content management policy|moderation|invalid_prompt/,
  ],
  ["MODEL_RATE_LIMITED", /rate_limit|ratelimit|rate limit|too_many_requests|too many requests|resource_exhausted/],
  ["MODEL_TIMEOUT", /timeout_error|deadline_exceeded|timed? ?out/],
  ["MODEL_OVERLOADED", /overloaded|api_error|server_error|internal|unavailable|bad_gateway|processing_error|upstream/],
  ["MODEL_BAD_REQUEST", /invalid_request|invalid_argument|bad_request|failed_precondition|unsupported|out_of_range/],
];

function classify(input: StatusErrorInput, wait: number | undefined): ErrorCode {
  const words = [input.type, input.code, input.message?.slice(0, 2_000)]
    .filter((word) => word !== undefined)
    .join(" ")
    .toLowerCase();
  const meant = meanings.find(([, pattern]) => pattern.test(words))?.[0];
  const status = input.status;
  switch (status) {
    case undefined:
      return meant === "MODEL_RATE_LIMITED" && (wait ?? 0) > rateLimitWaitMaxMs ? "MODEL_QUOTA_EXHAUSTED" : (meant ?? "MODEL_OVERLOADED");
    case 401:
      return "MODEL_AUTH";
    case 402:
      return "MODEL_QUOTA_EXHAUSTED";
    case 403:
      return meant === "MODEL_QUOTA_EXHAUSTED" || meant === "MODEL_REFUSED" ? meant : "MODEL_AUTH";
    case 404:
      return meant === "MODEL_THINKING_REFUSED" ? meant : "MODEL_NOT_FOUND";
    case 408:
    case 504:
      return "MODEL_TIMEOUT";
    case 413:
      return "CONTEXT_OVERFLOW";
    case 429:
      if (meant === "CONTEXT_OVERFLOW") return meant;
      return meant === "MODEL_QUOTA_EXHAUSTED" || (wait ?? 0) > rateLimitWaitMaxMs ? "MODEL_QUOTA_EXHAUSTED" : "MODEL_RATE_LIMITED";
    case 409:
    case 425:
    case 499:
      return "MODEL_OVERLOADED";
  }
  if (status >= 500) return status === 501 ? "MODEL_UNSUPPORTED" : "MODEL_OVERLOADED";
  if (status < 400) return status >= 300 ? "MODEL_REDIRECTED" : "MODEL_PROTOCOL";
  return meant !== undefined && fitsBadRequest.has(meant) ? meant : "MODEL_BAD_REQUEST";
}

/** What a 400 or 422 may turn out to be. */
const fitsBadRequest: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "MODEL_THINKING_REFUSED",
  "MODEL_QUOTA_EXHAUSTED",
  "CONTEXT_OVERFLOW",
  "MODEL_AUTH",
  "MODEL_NOT_FOUND",
  "MODEL_REFUSED",
]);
