import { AgentError, type ErrorCode, errorTable } from "../errors.ts";
import type { JsonObject } from "../message/json.ts";

/** An error as it crosses the wire, with media type `application/problem+json`. @see https://www.rfc-editor.org/rfc/rfc9457 (2026-11-21) */
export interface Problem {
  /** `urn:loopwright:error:<code>`: a name, not an address. */
  readonly type: string;
  /** What the code means; the same for every error of this code. */
  readonly title: string;
  /** The HTTP status of the response. */
  readonly status: number;
  readonly code: string;
  /** What happened, and to what. */
  readonly detail: string;
  readonly fix: string;
  /** The page and anchor that explain the code. */
  readonly docs: string;
  readonly runId?: string;
  readonly retryable: boolean;
  /** Milliseconds to wait before another try. */
  readonly retryAfterMs?: number;
  /** Details that the code documents: for a decision that came too late, the first decision. */
  readonly details?: JsonObject;
  /** `detail` again, for clients that only know this field. */
  readonly error: string;
}

export interface ProblemOptions {
  /** Address of the page that explains the codes, without the anchor. Default `docs/errors.md`. */
  readonly docsPage?: string;
}

/** Characters that a terminal obeys or that change the direction of a text, except tabs and line feeds. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Codes whose `details` are meant for the caller. */
const published: ReadonlySet<ErrorCode> = new Set(["APPROVAL_DECIDED", "HISTORY_EXPIRED"]);

/** The problem document of an error. It has no `cause`, and `details` only if the code documents them; control characters of the message become U+FFFD. */
export function problemOf(error: AgentError, options: ProblemOptions = {}): Problem {
  const { code, message, fix, retryable, retryAfterMs, runId, details } = error;
  const { meaning, status } = errorTable[code];
  const detail = message.replace(obeyed, "\uFFFD");
  return {
    type: `urn:loopwright:error:${code}`,
    title: meaning,
    status,
    code,
    detail,
    fix,
    docs: `${options.docsPage ?? "docs/errors.md"}#${code.toLowerCase()}`,
    ...(runId === undefined ? {} : { runId }),
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(details && published.has(code) ? { details } : {}),
    error: detail,
  };
}

/** The error of a problem document. A code of a newer version, and a value that is no problem document, become INTERNAL. */
export function errorFromProblem(json: unknown): AgentError {
  const written: { readonly [field: string]: unknown } = typeof json === "object" && json !== null ? { ...json } : {};
  const { code, detail, error, fix, retryable, retryAfterMs, runId, details } = written;
  const message = [detail, error].find((text): text is string => typeof text === "string" && text !== "");
  if (message === undefined || typeof code !== "string") {
    return new AgentError("INTERNAL", {
      message: "The server failed and sent no problem document.",
      fix: "Check that the address is a server of Loopwright.",
    });
  }
  const isKnown = Object.hasOwn(errorTable, code);
  return new AgentError(isKnown ? (code as ErrorCode) : "INTERNAL", {
    message,
    ...(typeof fix === "string" ? { fix } : {}),
    ...(typeof retryable === "boolean" ? { retryable } : {}),
    ...(typeof retryAfterMs === "number" && Number.isFinite(retryAfterMs) ? { retryAfterMs } : {}),
    ...(typeof runId === "string" ? { runId } : {}),
    ...(isKnown ? publishedDetails(details) : { details: { code } }),
  });
}

const publishedDetails = (details: unknown): { readonly details?: JsonObject } =>
  typeof details === "object" && details !== null ? { details: { ...details } } : {};
