import { AgentError, vendorMessageOf } from "@loopwright/core";
import { errorFromStatus, rateLimitWaitMaxMs, type VendorFailure, vendorErrorOf } from "@loopwright/provider-kit";
import { vendorName } from "./options.ts";

/** What is known beside the body of an error. */
export interface BodyErrorContext {
  /** Absent for an error inside a stream: the body names it. */
  readonly status?: number;
  readonly headers?: Headers;
  readonly secrets: readonly string[];
}

/** The error for an answer with the status of one. */
export function failureOf({ text, ...context }: VendorFailure): AgentError {
  return bodyError(text, context);
}

/**
 * The error for an error body, parsed or as text. Its `RetryInfo` has the wait. The sentence about an exceeded quota may mean the quota of a
 * minute or of a day; the id of the violated quota shows which.
 */
export function bodyError(body: unknown, context: BodyErrorContext): AgentError {
  const parsed = parsedBody(body);
  const { retryAfterMs, isDaily } = detailsOf(parsed);
  const status = context.status ?? vendorErrorOf(parsed).status;
  const error = errorFromStatus({
    provider: vendorName,
    ...vendorErrorOf(parsed),
    secrets: context.secrets,
    ...(status === undefined ? {} : { status }),
    ...(context.headers ? { headers: context.headers } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
  const isShort = retryAfterMs !== undefined && retryAfterMs <= rateLimitWaitMaxMs && !isDaily;
  if (error.code !== "MODEL_QUOTA_EXHAUSTED" || status !== 429 || !isShort) return error;
  return new AgentError("MODEL_RATE_LIMITED", {
    message: error.message,
    retryAfterMs,
    details: error.details,
    vendorMessage: vendorMessageOf(error),
  });
}

function parsedBody(body: unknown): unknown {
  if (typeof body !== "string" || !/^\s*[{[]/.test(body)) return body;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** @see https://cloud.google.com/apis/design/errors#error_details (2026-11-21) */
function detailsOf(body: unknown): { readonly retryAfterMs?: number; readonly isDaily: boolean } {
  const outer = Array.isArray(body) ? body[0] : body;
  const inner = isRecord(outer) && isRecord(outer["error"]) ? outer["error"]["details"] : undefined;
  let retryAfterMs: number | undefined;
  let isDaily = false;
  for (const detail of Array.isArray(inner) ? inner : []) {
    if (!isRecord(detail)) continue;
    const type = String(detail["@type"]);
    if (type.endsWith("RetryInfo")) {
      const seconds = /^(\d+(?:\.\d+)?)s$/.exec(String(detail["retryDelay"]))?.[1];
      if (seconds !== undefined) retryAfterMs = Math.ceil(Number(seconds) * 1_000);
    } else if (type.endsWith("QuotaFailure")) isDaily ||= JSON.stringify(detail).includes("PerDay");
  }
  return { isDaily, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
