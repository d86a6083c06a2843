/** True for a `traceparent` of version 00 (W3C Trace Context) whose ids are not zero. Accepts untrusted input. */
export function isTraceparent(text: unknown): text is string {
  return typeof text === "string" && /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(text);
}
