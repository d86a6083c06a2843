const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const amount = /(\d{1,9}(?:\.\d{1,9})?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])/g;
const wish =
  /(?:try again|retry|resets?|reset|available again|wait)[^.\n]{0,40}?\b(?:in|after|for) ((?:\d{1,9}(?:\.\d{1,9})? ?[a-z]{1,12}[ ,]{0,2}(?:and )?){1,4})/;

/** How much of a sentence is read. */
const textMax = 2_000;

/**
 * How long a vendor's sentence asks to wait, in milliseconds: "Please try again in 6m0s", "Your quota will reset after 239h59m", "Please retry in
 * 34.07s". `undefined` where it names no wait.
 * @see https://platform.openai.com/docs/guides/rate-limits, https://ai.google.dev/gemini-api/docs/rate-limits (2026-11-21)
 */
export function waitInText(text: string | undefined): number | undefined {
  const written = text?.slice(0, textMax).toLowerCase().match(wish)?.[1];
  if (written === undefined) return undefined;
  const parts = [...written.matchAll(amount)].map(([, count, unit]) => Number(count) * (unitMs[unitOf(unit ?? "")] ?? 0));
  return parts.length === 0 ? undefined : Math.round(parts.reduce((sum, part) => sum + part, 0));
}

const unitOf = (unit: string): string => (unit === "ms" || unit.startsWith("milli") ? "ms" : unit.slice(0, 1));
