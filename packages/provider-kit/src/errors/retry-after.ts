/**
 * How long the other side wants us to wait, in milliseconds, at least 0: `retry-after-ms`, or `retry-after` in seconds or as
 * an HTTP date. A date counts from `now` (milliseconds since 1970); where that is absent, from the answer's own `date` header,
 * which needs no clock and is right even where ours is wrong. `undefined` when there is none or it is garbage.
 */
export function retryAfterMs(headers: Headers | undefined, now?: number): number | undefined {
  if (!headers) return undefined;
  const milliseconds = numberOf(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return clamp(milliseconds);
  const text = headers.get("retry-after");
  const seconds = numberOf(text);
  if (seconds !== undefined) return clamp(seconds * 1000);
  if (text === null || !isDate.test(text)) return undefined;
  const until = Date.parse(text);
  const from = now ?? Date.parse(headers.get("date") ?? "");
  return Number.isNaN(until) || Number.isNaN(from) ? undefined : clamp(until - from);
}

/** Date.parse takes nearly anything with a digit for a date. */
const isDate = /^[A-Za-z]{3,9},? .*\d{1,2}:\d{2}/;
const isNumber = /^\s*[+-]?\d+(\.\d+)?\s*$/;

function numberOf(text: string | null): number | undefined {
  return text !== null && isNumber.test(text) ? Number(text) : undefined;
}

function clamp(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds));
}
