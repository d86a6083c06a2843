import type { Fact, Message } from "@loopwright/core";
import { redactedDigest } from "./redaction/words-of-fact.ts";

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

/** Digests of words, and the most that a call with these words may spend. */
const ofWords: ReadonlySet<string> = new Set(["requestDigest", "argsDigest", "expected"]);

/** True for the path of a member of a recorded fact that is another one when words of the session are replaced. */
export const dependsOnWords = (path: string, recorded: Fact): boolean =>
  ofWords.has(path.split(".", 1)[0] ?? "") || (path === "agentDigest" && path in recorded && recorded.agentDigest === redactedDigest);

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

/** A message with its id. */
export interface PlacedMessage {
  readonly id: string;
  readonly message: Message;
}

/** The first place at which two conversations differ. */
export interface Difference {
  /** The place in both, from 0. */
  readonly place: number;
  /** Absent: the first conversation has ended. */
  readonly one?: PlacedMessage;
  /** Absent: the second one has ended. */
  readonly other?: PlacedMessage;
  /** Paths of the members that differ. Empty where one of the messages is absent. */
  readonly members: readonly string[];
}

/** Members of a message that differ in each session: ids, and what a process or a vendor measured. */
const ownOfSession: ReadonlySet<string> = new Set(["callKey", "toolCallId", "id", "usage", "cost", "timings", "durationMs", "opaque"]);

/** The first messages in which two conversations differ, without ids, times and usage; `undefined`: they are equal. Both are oldest first. */
export function firstDifference(one: readonly PlacedMessage[], other: readonly PlacedMessage[]): Difference | undefined {
  for (let place = 0; place < Math.max(one.length, other.length); place++) {
    const [first, second] = [one[place], other[place]];
    const members = first && second ? differences(comparable(first.message), comparable(second.message), "") : [];
    if (first && second && members.length === 0) continue;
    return { place, ...(first ? { one: first } : {}), ...(second ? { other: second } : {}), members };
  }
  return undefined;
}

const comparable = (message: Message): unknown =>
  JSON.parse(JSON.stringify(message, (name, value: unknown) => (ownOfSession.has(name) ? undefined : value)));

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
