import { errorTable, type ErrorCode, type ErrorEntry } from "./error-table.ts";
import type { Json } from "./message/json.ts";

export { errorTable };
export type { ErrorClass, ErrorCode, ErrorEntry } from "./error-table.ts";

const brand: unique symbol = Symbol.for("@loopwright/error") as never;

/** What an error is made of, beside its code. */
export interface AgentErrorOptions {
  /** What happened, to what. No secret and no prompt. */
  readonly message: string;
  /** What to do about it. Default: the table's sentence for the code. */
  readonly fix?: string | undefined;
  /** Default: the table's. */
  readonly retryable?: boolean | undefined;
  /** The other side's wish, in milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
  /** For machines: names, limits, ids. */
  readonly details?: { readonly [key: string]: Json } | undefined;
  readonly cause?: unknown;
  readonly runId?: string | undefined;
}

/** The one error of Loopwright. Recognise it with `isAgentError`, never with `instanceof`: two copies of core may be installed. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly [brand] = true;
  readonly code: ErrorCode;
  readonly fix: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly details: { readonly [key: string]: Json } | undefined;
  readonly runId: string | undefined;

  constructor(code: ErrorCode, options: AgentErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    const entry: ErrorEntry = errorTable[code];
    this.code = code;
    this.fix = options.fix ?? entry.fix;
    this.retryable = options.retryable ?? entry.retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
    this.runId = options.runId;
  }
}

/** True for an `AgentError` of any copy of core, and of this code where one is given. */
export function isAgentError(error: unknown, code?: ErrorCode): error is AgentError {
  return typeof error === "object" && error !== null && brand in error && (code === undefined || (error as AgentError).code === code);
}

/** An expected failure as data: what a fact holds of an error. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

/** The error as data; a stranger becomes INTERNAL without its text, which may hold anything. */
export function failureOf(error: unknown): Failure {
  if (!isAgentError(error)) return { code: "INTERNAL", message: `Unexpected ${nameOf(error)}.`, retryable: false };
  const { code, message, retryable, retryAfterMs } = error;
  return { code, message, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
