import { type ErrorClass, type ErrorCode, type ErrorEntry, errorTable } from "./error-table.ts";
import type { Json } from "./message/json.ts";

export type { ErrorClass, ErrorCode, ErrorEntry } from "./error-table.ts";
export { errorTable };

const brand = Symbol.for("@loopwright/error");

/** The parts of an error, beside its code. */
export interface AgentErrorOptions {
  /** What happened, and to what. Contains no secret and no prompt. */
  readonly message: string;
  /** What to do about it. Default: the table's sentence for the code. */
  readonly fix?: string | undefined;
  /** Default: the table's. */
  readonly retryable?: boolean | undefined;
  /** Milliseconds to wait, as the other side asks. */
  readonly retryAfterMs?: number | undefined;
  /** For machines: names, limits, ids. */
  readonly details?: { readonly [key: string]: Json } | undefined;
  readonly cause?: unknown;
  readonly runId?: string | undefined;
  /** The other side's own text, for the operator's log alone, because it may repeat the request. No part of the error shows it. */
  readonly vendorMessage?: string | undefined;
}

/** Kept beside the errors, so that no copy, print or JSON of an error has them. */
const vendorWords = new WeakMap<object, string>();

/** The other side's own text at the time of the error, for the operator's log; `undefined` without such a text. */
export function vendorMessageOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null ? vendorWords.get(error) : undefined;
}

/** The one error of Loopwright. Recognise it with `isAgentError`, never with `instanceof`: two copies of core may be installed. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code: ErrorCode;
  readonly fix: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly details: { readonly [key: string]: Json } | undefined;
  readonly runId: string | undefined;

  constructor(code: ErrorCode, options: AgentErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    Object.defineProperty(this, brand, { value: true });
    const entry: ErrorEntry = errorTable[code];
    this.code = code;
    this.fix = options.fix ?? entry.fix;
    this.retryable = options.retryable ?? entry.retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
    this.runId = options.runId;
    if (options.vendorMessage !== undefined) vendorWords.set(this, options.vendorMessage);
  }
}

/** True for an `AgentError` of any copy of core, and, if `code` is given, only for that code. */
export function isAgentError(error: unknown, code?: ErrorCode): error is AgentError {
  if (typeof error !== "object" || error === null || !(brand in error)) return false;
  return code === undefined || ("code" in error && error.code === code);
}

/** The class of a code; `unknown` for a code that only another version knows. */
export function errorClassOf(code: ErrorCode): ErrorClass {
  return Object.hasOwn(errorTable, code) ? errorTable[code].class : "unknown";
}

/** An expected failure as data: the parts of an error that a fact holds. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

/** The error as data. An error that is no AgentError becomes INTERNAL without its text, which may hold anything. */
export function failureOf(error: unknown): Failure {
  if (!isAgentError(error)) return { code: "INTERNAL", message: `Unexpected ${nameOf(error)}.`, retryable: false };
  const { code, message, retryable, retryAfterMs } = error;
  return { code, message, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
