import type { Fact } from "@loopwright/core";
import type { Divergence } from "./divergence.ts";
import { type ReplaySessionOptions, replaySession } from "./replay-session.ts";

/** Characters of a value that a line shows. */
const shownMax = 400;

/**
 * Resolves if the replay gives the recorded log; otherwise rejects with what differs first, in a test of any runner.
 * @throws Error with the number of the fact and both values; AgentError CONFIG_INVALID for a log that cannot be replayed
 */
export async function assertReplay(options: ReplaySessionOptions): Promise<void> {
  const { divergence } = await replaySession(options);
  if (!divergence) return;
  const { seq } = divergence;
  throw new Error(
    [`The replay of ${options.session} differs at fact ${seq} of ${options.facts.length}.`, ...divergenceLines(divergence)].join("\n"),
  );
}

/** What differs, for people: the types of both facts, or each member with its two values. */
export function divergenceLines({ recorded, replayed, members }: Divergence): readonly string[] {
  if (!replayed) return [`recorded: ${typeOf(recorded)}; the replay does not come there`];
  if (members.includes("type") || !recorded) return [`recorded: ${typeOf(recorded)}; replayed: ${typeOf(replayed)}`];
  const lines = members.flatMap((member) => [
    `${typeOf(recorded)} ${member}`,
    `- ${shown(recorded, member)}`,
    `+ ${shown(replayed, member)}`,
  ]);
  if (members.length === 1 && members[0] === "agentDigest")
    lines.push("The agent has changed since: its prompt, its tools or its limits. What follows from that was not compared.");
  return lines;
}

const typeOf = (fact: Fact | undefined): string => fact?.type ?? "nothing";

/** The value at a path such as `message.content.0.text`. */
function shown(fact: Fact, path: string): string {
  let value: unknown = fact;
  for (const name of path.split("."))
    value = typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  return value === undefined ? "(absent)" : JSON.stringify(value).slice(0, shownMax);
}
