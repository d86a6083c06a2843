import type { ScheduleFiring, SessionSchedule } from "@loopwright/core/protocol";

/** The units of an interval, the longest first. */
export const intervalUnits = [
  { name: "days", ms: 86_400_000 },
  { name: "hours", ms: 3_600_000 },
  { name: "minutes", ms: 60_000 },
] as const;

/** How often a schedule sends its text. */
export function rhythmText({ everyMs, cron, timeZone }: Pick<SessionSchedule, "everyMs" | "cron" | "timeZone">): string {
  if (cron !== undefined) return `by \`${cron}\` in ${timeZone ?? "UTC"}`;
  if (everyMs === undefined) return "once";
  const unit = intervalUnits.find(({ ms }) => everyMs % ms === 0);
  const count = everyMs / (unit?.ms ?? 1_000);
  const name = unit?.name ?? "seconds";
  return count === 1 ? `every ${name.slice(0, -1)}` : `every ${count} ${name}`;
}

/** What became of a due time. */
export const standingTexts: { readonly [Status in ScheduleFiring["status"]]: string } = {
  completed: "answered",
  aborted: "stopped",
  failed: "failed",
  waiting: "waiting",
  running: "being answered",
  skipped: "left out",
};

/** What the form holds. */
export interface ScheduleDraft {
  readonly input: string;
  readonly rhythm: "once" | "every" | "cron";
  /** A local date and time, such as `2027-03-01T09:00`; empty: not chosen. */
  readonly at: string;
  readonly count: number;
  readonly unitMs: number;
  readonly cron: string;
}

/** The request of a form that a person has filled in. */
export function requestOf({ input, rhythm, at, count, unitMs, cron }: ScheduleDraft, timeZone: string) {
  if (rhythm === "cron") return { input, cron: cron.trim(), timeZone };
  const first = at === "" ? {} : { at, timeZone };
  return rhythm === "once" ? { input, ...first } : { input, ...first, everyMs: Math.round(count * unitMs) };
}
