/** The milliseconds by which clocks of the zone are ahead of UTC at that time. @throws RangeError for a zone that the platform does not know */
function offsetAt(time: number, timeZone: string): number {
  const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" } as const;
  const parts = new Intl.DateTimeFormat("en-US", { timeZone, calendar: "iso8601", hourCycle: "h23", ...fields }).formatToParts(time);
  const field = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const shown = Date.UTC(field("year"), field("month") - 1, field("day"), field("hour"), field("minute"), field("second"));
  return shown - Math.floor(time / 1_000) * 1_000;
}

const dayMs = 86_400_000;

/** What clocks of the zone show at that time, written as if it were UTC. @throws RangeError for a zone that the platform does not know */
export const localTime = (time: number, timeZone: string): number => time + offsetAt(time, timeZone);

/**
 * The time at which clocks of the zone show `local` (written as if it were UTC). Of a local time that comes twice, it is the first; a local time that is
 * skipped moves by as much as the clocks are set forward. @throws RangeError for a zone that the platform does not know
 */
export function timeInZone(local: number, timeZone: string): number {
  const offsets = [offsetAt(local - dayMs, timeZone), offsetAt(local + dayMs, timeZone)] as const;
  const fitting = offsets.map((offset) => local - offset).filter((time) => localTime(time, timeZone) === local);
  return fitting.length > 0 ? Math.min(...fitting) : local - offsets[0];
}
