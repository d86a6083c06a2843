import { AgentError, type ErrorCode, errorTable } from "../errors.ts";

/** An error as it crosses the wire, with media type `application/problem+json`. @see https://www.rfc-editor.org/rfc/rfc9457 (2026-11-21) */
export interface Problem {
  /** `urn:loopwright:error:<code>`: a name, not an address. */
  readonly type: string;
  /** What the code means; the same for every error of this code. */
  readonly title: string;
  /** The HTTP status it goes with. */
  readonly status: number;
  readonly code: string;
  /** What happened, to what. */
  readonly detail: string;
  readonly fix: string;
  /** The page and anchor that explain the code. */
  readonly docs: string;
  readonly runId?: string;
  readonly retryable: boolean;
  /** Milliseconds to wait before another try. */
  readonly retryAfterMs?: number;
  /** `detail` again, for clients that only know this field. */
  readonly error: string;
}

export interface ProblemOptions {
  /** Address of the page that explains the codes, without the anchor. Default `docs/errors.md`. */
  readonly docsPage?: string;
}

/** The problem document of an error. Neither `cause` nor `details` go into it. */
export function problemOf(error: AgentError, options: ProblemOptions = {}): Problem {
  const { code, message, fix, retryable, retryAfterMs, runId } = error;
  const { meaning, status } = errorTable[code];
  return {
    type: `urn:loopwright:error:${code}`,
    title: meaning,
    status,
    code,
    detail: message,
    fix,
    docs: `${options.docsPage ?? "docs/errors.md"}#${code.toLowerCase()}`,
    ...(runId === undefined ? {} : { runId }),
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    error: message,
  };
}

/** The error that a problem document tells of. A code of a newer version, and what is no problem document at all, become INTERNAL. */
export function errorFromProblem(json: unknown): AgentError {
  const said: { readonly [field: string]: unknown } = typeof json === "object" && json !== null ? { ...json } : {};
  const { code, detail, error, fix, retryable, retryAfterMs, runId } = said;
  const message = [detail, error].find((text): text is string => typeof text === "string" && text !== "");
  if (message === undefined || typeof code !== "string") {
    return new AgentError("INTERNAL", {
      message: "The other side failed and sent no problem document.",
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
    ...(isKnown ? {} : { details: { code } }),
  });
}
