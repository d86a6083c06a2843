/*
 * Owns: the spans of runs, model calls and tools, and the trace that inputs of children get.
 * Does not own: how spans are sampled, processed and exported (the tracer provider of the application).
 * Invariants
 *  T1 the span of a run has ids that all nodes derive alike; the spans of its attempts hang from it, whichever node made them;
 *  T2 no content is in a span unless it was asked for;
 *  T3 the attempts of a run are sampled if its own span is.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Fact, FactBody, ObservedEffect, ObservedRun, Observer, SessionRef } from "@loopwright/core";
import { silentLogger } from "@loopwright/core/memory";
import { type Logger, refKey } from "@loopwright/core/ports";
import {
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { closingAttributes, genAi, providerName } from "./genai-attributes.ts";
import { idsOfRun, type RunIds, withIds } from "./run-ids.ts";
import { tracedFetch } from "./traced-fetch.ts";

export interface TraceObserverOptions {
  /** With `idGenerator: spanIds`. Default: the global one. */
  readonly tracerProvider?: TracerProvider;
  /** Puts answers, arguments and results of tools into spans. Default false: spans have names and numbers alone. */
  readonly withContent?: boolean;
  readonly logger?: Logger;
}

/** The spans of what this process does. */
export interface TraceObserver {
  readonly observer: Observer;
  /** The `traceparent` of the attempt that runs now. */
  traceparent(): string | undefined;
  /** Sends the `traceparent` with requests to these hosts, for example a gateway of one's own. No other host gets it. */
  tracedFetch(hosts: readonly string[], fetch?: typeof globalThis.fetch): typeof globalThis.fetch;
}

interface OpenRun {
  /** Absent until a fact of the run was seen. */
  readonly startedAt?: number;
  readonly run: ObservedRun;
  /** Started with the first attempt: it decides whether the run is sampled, and its attempts follow. */
  readonly span?: Span;
  /** The span began before its run was seen to, at a takeover: it decides, and one with the right time is exported. */
  readonly isLate?: boolean;
}

const runsMax = 10_000;

/** A span for each run, model call and tool, in one tree over nodes and children. */
export function traceObserver({ tracerProvider, withContent = false, logger = silentLogger }: TraceObserverOptions = {}): TraceObserver {
  const tracer: Tracer = (tracerProvider ?? trace.getTracerProvider()).getTracer("@loopwright/telemetry");
  const current = new AsyncLocalStorage<SpanContext>();
  const runs = new Map<string, OpenRun>();
  let hasWarned = false;

  const open = (ref: SessionRef, run: ObservedRun, at: number): void => {
    const key = `${refKey(ref)}/${run.runId}`;
    const known = runs.get(key);
    const isKnown = known?.startedAt !== undefined && (known.run.agent !== undefined || run.agent === undefined);
    if (isKnown) return;
    // Until its run has begun, an input waits; that is not the time of the run.
    const startedAt = (run.agent === undefined ? known?.startedAt : undefined) ?? at;
    keep(key, { ...known, startedAt, run: { ...known?.run, ...run } });
  };
  const keep = (key: string, run: OpenRun): void => {
    runs.set(key, run);
    const [oldest] = runs.keys();
    if (runs.size > runsMax && oldest !== undefined) runs.delete(oldest);
  };
  /** The span of a run that an attempt belongs to. It is exported by the process in which the run ends. */
  const spanOf = (ref: SessionRef, run: ObservedRun): Span => {
    const key = `${refKey(ref)}/${run.runId}`;
    const known = runs.get(key) ?? { run };
    const span = known.span ?? startRun(tracer, ref, { run: { ...known.run, ...run }, startedAt: known.startedAt });
    keep(key, { ...known, span, isLate: known.isLate ?? known.startedAt === undefined });
    return span;
  };

  const close = (ref: SessionRef, fact: Extract<Fact, { readonly type: "run.finished" }>): void => {
    const key = `${refKey(ref)}/${fact.runId}`;
    const known: OpenRun = runs.get(key) ?? { run: { runId: fact.runId } };
    runs.delete(key);
    const { run, startedAt = fact.at } = known;
    const span = known.span && !known.isLate ? known.span : startRun(tracer, ref, { run, startedAt });
    span.setAttributes({ ...commonOf(ref, run), "loopwright.run.status": fact.status });
    warnOf(span, idsOfRun({ ...ref, runId: fact.runId }, run.trace));
    if (fact.failure) fail(span, fact.failure.code);
    span.end(Math.max(startedAt, fact.at));
  };

  const warnOf = (span: Span, { spanId }: RunIds): void => {
    if (hasWarned || !span.isRecording() || span.spanContext().spanId === spanId) return;
    hasWarned = true;
    logger.log(
      "warn",
      "The tracer provider does not use `spanIds` as its `idGenerator`, so the attempts of a run that is taken over hang from several spans.",
    );
  };

  const traceparent = (): string | undefined => {
    const now = current.getStore() ?? trace.getSpanContext(context.active());
    return now && `00-${now.traceId}-${now.spanId}-${now.traceFlags.toString(16).padStart(2, "0")}`;
  };

  return {
    traceparent,
    observer: {
      trace: traceparent,
      facts(...[ref, facts, , runOf]) {
        for (const fact of facts) {
          if (!("runId" in fact) || fact.runId === undefined) continue;
          if (fact.type === "run.finished") close(ref, fact);
          else open(ref, begunBy(fact, runOf(fact.runId)), fact.at);
        }
      },
      effect(ref, effect, run) {
        const span = startAttempt(tracer, ref, { effect, run, parent: spanOf(ref, run) });
        return {
          around: (work) => current.run(span.spanContext(), () => context.with(trace.setSpan(ROOT_CONTEXT, span), work)),
          end: (closing) => finish(span, closing, withContent),
        };
      },
    },
    tracedFetch: (hosts, fetch = globalThis.fetch) => tracedFetch(fetch, { hosts, traceparent }),
  };
}

/** The span of a run, with the ids that every node gives it. */
function startRun(
  tracer: Tracer,
  ref: SessionRef,
  { run, startedAt }: { readonly run: ObservedRun; readonly startedAt: number | undefined },
): Span {
  const ids = idsOfRun({ ...ref, runId: run.runId }, run.trace);
  const parent = run.trace === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(run.trace));
  const name = run.agent === undefined ? "invoke_agent" : `invoke_agent ${run.agent}`;
  const attributes = { ...commonOf(ref, run), [genAi.operation]: "invoke_agent" };
  const time = startedAt === undefined ? {} : { startTime: startedAt };
  return withIds(ids, () => tracer.startSpan(name, { kind: SpanKind.INTERNAL, ...time, attributes }, parent));
}

interface Attempt {
  readonly effect: ObservedEffect;
  readonly run: ObservedRun;
  readonly parent: Span;
}

/** The span of an attempt, below that of its run. */
function startAttempt(tracer: Tracer, ref: SessionRef, { effect, run, parent }: Attempt): Span {
  const isModel = effect.type === "call-model";
  const attributes = isModel
    ? { [genAi.operation]: "chat", [genAi.provider]: providerName(effect.provider), [genAi.requestModel]: effect.model }
    : { [genAi.operation]: "execute_tool", [genAi.tool]: effect.tool, [genAi.toolType]: "function", [genAi.toolCall]: effect.callKey };
  const place = {
    "loopwright.effect.id": effect.id,
    ...("attempt" in effect ? { "loopwright.attempt": effect.attempt, "loopwright.turn": effect.turn } : {}),
  };
  const name = isModel ? `chat ${effect.model}` : `execute_tool ${effect.tool}`;
  const kind = isModel ? SpanKind.CLIENT : SpanKind.INTERNAL;
  return tracer.startSpan(
    name,
    { kind, attributes: { ...commonOf(ref, run), ...attributes, ...place } },
    trace.setSpan(ROOT_CONTEXT, parent),
  );
}

/** What a fact has of its run beside the state. */
function begunBy(fact: Fact & { readonly runId?: string }, known: ObservedRun | undefined): ObservedRun {
  const run = { runId: fact.runId ?? "", ...known };
  if (fact.type === "run.started") return { ...run, agent: fact.agent };
  if (fact.type !== "input.accepted") return run;
  return { ...run, ...(fact.access ? { access: fact.access } : {}), ...(fact.trace === undefined ? {} : { trace: fact.trace }) };
}

const commonOf = ({ scope, session }: SessionRef, { runId, agent, parent }: ObservedRun) => ({
  [genAi.conversation]: session,
  ...(agent === undefined ? {} : { [genAi.agent]: agent }),
  "loopwright.scope": scope,
  "loopwright.run.id": runId,
  ...(parent ? { "loopwright.parent.session": parent.session } : {}),
});

function finish(span: Span, closing: FactBody | undefined, withContent: boolean): void {
  span.setAttributes(closingAttributes(closing, withContent));
  if (closing?.type === "model.failed") fail(span, closing.failure.code);
  else if (closing?.type === "model.finished" && closing.failure) fail(span, closing.failure.code);
  else if (closing?.type === "tool.finished" && closing.outcome !== "ok") fail(span, closing.failure?.code ?? closing.outcome);
  span.end();
}

/** The code alone: the text of an error may repeat what a model or a user wrote. */
function fail(span: Span, code: string): void {
  span.setAttribute(genAi.error, code);
  span.setStatus({ code: SpanStatusCode.ERROR, message: code });
}

const contextOf = (traceparent: string): SpanContext => ({
  traceId: traceparent.slice(3, 35),
  spanId: traceparent.slice(36, 52),
  traceFlags: Number.parseInt(traceparent.slice(53), 16),
  isRemote: true,
});
