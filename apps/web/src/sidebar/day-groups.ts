/** Things of one stretch of time, newest first. */
export interface DayGroup<Item> {
  readonly name: string;
  readonly items: readonly Item[];
}

/**
 * The items, newest first, under the names people give to days: today, yesterday, the last week, then months. `now` is in
 * milliseconds since the epoch; days are those of the reader's own time zone.
 */
export function dayGroups<Item extends { readonly updatedAt: number }>(
  items: readonly Item[],
  now: number,
  locale?: string,
): readonly DayGroup<Item>[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const name = nameOfDay(item.updatedAt, now, locale);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return [...groups].map(([name, members]) => ({ name, items: members }));
}

function nameOfDay(at: number, now: number, locale: string | undefined): string {
  const days = dayNumber(now) - dayNumber(at);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return "Last 7 days";
  if (days < 30) return "Last 30 days";
  return new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" }).format(at);
}

/** Counts days of the local calendar, so that the hour of a clock change does not move anything. */
function dayNumber(at: number): number {
  const date = new Date(at);
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000);
}
