/** Headers of every event stream. */
export function streamHeaders(more: { readonly [name: string]: string } = {}): Headers {
  return new Headers({
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache, no-store, no-transform",
    "X-Accel-Buffering": "no",
    ...more,
  });
}
