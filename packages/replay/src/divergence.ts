import type { Fact } from "@loopwright/core";

/** The first place at which two logs differ. */
export interface Divergence {
  /** The number of the fact in both logs. */
  readonly seq: number;
  /** The fact of the first log. Absent: it has ended. */
  readonly recorded?: Fact;
  /** The fact of the second log. Absent: it has ended, or its work has come to a standstill. */
  readonly replayed?: Fact;
  /** Paths of the members that differ, for example `message.content.0.text`. Empty where one of the facts is absent. */
  readonly members: readonly string[];
}

/** What a process measures: how long something took, and what it uses to find its reservations and traces again. */
const measured: ReadonlySet<string> = new Set(["durationMs", "timings", "trace", "reservation"]);

/** How long what leads to a deadline may have waited to be recorded: it counts from a moment that the log does not have. */
const deadlineSlackMs = 5_000;

/** Paths of the members in which two facts differ, without measured times; deadlines may be five seconds apart. Empty: they are equal. */
export function differingMembers(one: Fact, other: Fact): readonly string[] {
  return differences(one, other, "");
}

/** The first fact in which two logs differ, without measured times, and with deadlines that may be five seconds apart; `undefined`: they are equal. */
export function firstDivergence(one: readonly Fact[], other: readonly Fact[]): Divergence | undefined {
  const length = Math.max(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [recorded, replayed] = [one[at], other[at]];
    const members = recorded && replayed ? differingMembers(recorded, replayed) : [];
    if (recorded && replayed && members.length === 0) continue;
    return { seq: at + 1, ...(recorded ? { recorded } : {}), ...(replayed ? { replayed } : {}), members };
  }
  return undefined;
}

function differences(one: unknown, other: unknown, path: string): readonly string[] {
  if (Object.is(one, other)) return [];
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return [path];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const found: string[] = [];
  for (const name of names) {
    if (path === "" && (measured.has(name) || (name === "deadline" && isNear(one[name], other[name])))) continue;
    found.push(...differences(one[name], other[name], path === "" ? name : `${path}.${name}`));
  }
  return found;
}

const isNear = (one: unknown, other: unknown): boolean =>
  typeof one === "number" && typeof other === "number" && Math.abs(one - other) <= deadlineSlackMs;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;
