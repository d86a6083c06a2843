import { createHash, randomBytes } from "node:crypto";

/** The ids of the span of a run. */
export interface RunIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Makes ids as OpenTelemetry wants them: the `idGenerator` of a tracer provider. */
export interface SpanIdGenerator {
  generateTraceId(): string;
  generateSpanId(): string;
}

/** The ids that the next span gets; within one call of the tracer. */
let next: RunIds | undefined;

/**
 * The generator for the tracer provider: random ids, except for the span of a run. That span has the same ids on every node, so that the attempts of
 * a run that was taken over hang from one span.
 */
export const spanIds: SpanIdGenerator = {
  generateTraceId: () => next?.traceId ?? randomBytes(16).toString("hex"),
  generateSpanId: () => next?.spanId ?? randomBytes(8).toString("hex"),
};

/** Starts a span that gets these ids. */
export function withIds<T>(ids: RunIds, start: () => T): T {
  next = ids;
  try {
    return start();
  } finally {
    next = undefined;
  }
}

/** The ids of a run's span. `trace`: the `traceparent` of its input; without one the trace is derived as well. */
export function idsOfRun(
  { scope, session, runId }: { readonly scope: string; readonly session: string; readonly runId: string },
  trace?: string,
): RunIds {
  const digest = createHash("sha256").update(`${scope}/${session}/${runId}`).digest("hex");
  return { traceId: trace?.slice(3, 35) ?? nonZero(digest.slice(0, 32)), spanId: nonZero(digest.slice(32, 48)) };
}

/** An id of zeros is none. */
const nonZero = (id: string): string => (/^0+$/.test(id) ? id.replace(/0$/, "1") : id);
