/** Spans of runs, model calls and tools by the GenAI conventions of OpenTelemetry. */
export { type SpanIdGenerator, spanIds } from "./run-ids.ts";
export { type TraceObserver, type TraceObserverOptions, traceObserver } from "./trace-observer.ts";
