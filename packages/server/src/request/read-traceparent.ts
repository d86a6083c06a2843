import { isTraceparent } from "@loopwright/core/protocol";

/** The trace that the caller's work belongs to, from the header `traceparent`; nothing if the header is missing or invalid. */
export function traceOf(request: Request): { readonly trace?: string } {
  const trace = request.headers.get("traceparent")?.trim();
  return isTraceparent(trace) ? { trace } : {};
}
