import type { Cost, Usage } from "@loopwright/core/protocol";

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en");

/** A count of tokens in few signs, for example `12.4K`. */
export function tokensLabel(tokens: number): string {
  return short.format(tokens);
}

/** A count in full, for example `12,418`. */
export function countLabel(count: number): string {
  return whole.format(count);
}

/** Small sums in full, since most answers cost less than a cent. */
export function moneyLabel({ totalUsd, partial }: Cost): string {
  const digits = totalUsd === 0 || totalUsd >= 1 ? 2 : totalUsd >= 0.01 ? 3 : 5;
  return `${partial ? "at least " : ""}$${totalUsd.toFixed(digits)}`;
}

/** How long something took, in the unit that fits: `340 ms`, `8.2 s`, `2 min 5 s`, `1 h 4 min`. */
export function durationLabel(durationMs: number): string {
  const ms = Math.max(0, Math.round(durationMs));
  if (ms < 1000) return `${ms} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { dateStyle: "long" });

/** The time of day of a moment. */
export function clockLabel(at: number): string {
  return clock.format(at);
}

/** Date and time of a moment in full. */
export function momentLabel(at: number): string {
  return moment.format(at);
}

/** The day of a moment in words, seen from `now`. */
export function dayLabel(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)];
  const days = Math.round((new Date(now).setHours(12, 0, 0, 0) - new Date(at).setHours(12, 0, 0, 0)) / 86_400_000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return then.getFullYear() === today.getFullYear() ? day.format(at) : dayOfYear.format(at);
}

/** Everything read and written. */
export function tokensIn({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, total }: Usage): number {
  return total ?? input + cacheRead + cacheWrite + output;
}
