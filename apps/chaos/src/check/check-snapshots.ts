/* Whether all nodes show a session alike, and as its log has it. */
import type { Fact } from "@loopwright/core";
import { derivedTitle, type SessionSnapshot, textOf } from "@loopwright/core/protocol";

export interface SnapshotEvidence {
  readonly facts: readonly Fact[];
  /** Folded from the log alone, from its first fact. */
  readonly folded: SessionSnapshot;
  /** By node. */
  readonly shown: { readonly [node: string]: unknown };
}

/** I15: every node shows what is folded from the log alone, and that equals what the facts hold. */
export function checkSnapshots({ facts, folded, shown }: SnapshotEvidence): readonly string[] {
  const own = JSON.stringify(sorted(withTitle(folded)));
  const differing = Object.entries(shown).filter(([, snapshot]) => JSON.stringify(sorted(snapshot)) !== own);
  return [
    ...differing.map(([node, snapshot]) => `I15: ${node} shows ${placeOf(JSON.stringify(sorted(snapshot)) ?? "nothing", own)}`),
    ...checkFold(facts, folded),
  ];
}

/** Nodes show the beginning of the first words of a user where no title was given. */
function withTitle(folded: SessionSnapshot): SessionSnapshot {
  const written = folded.messages.map(({ message }) => (message.role === "user" ? derivedTitle(textOf(message)) : ""));
  const title = folded.title ?? written.find((one) => one !== "");
  return title === undefined ? folded : { ...folded, title };
}

/** The fold against the facts, read without it. */
function checkFold(facts: readonly Fact[], { cursor, messages, lastRun }: SessionSnapshot): readonly string[] {
  const flaws: string[] = [];
  const tail = facts.at(-1)?.seq ?? 0;
  if (Number.parseInt(cursor, 10) < tail) flaws.push(`I15: the fold ends at ${cursor} and the log at ${tail}`);
  const answers = facts
    .flatMap((fact) => (fact.type === "model.finished" ? [fact.message] : []))
    .filter(({ content }) => content.length > 0);
  const notified = messages
    .flatMap(({ message }) => (message.role === "assistant" ? [message] : []))
    .filter(({ content }) => content.length > 0);
  if (JSON.stringify(sorted(answers)) !== JSON.stringify(sorted(notified)))
    flaws.push(`I15: the fold has ${notified.length} answers and the log ${answers.length}, or others`);
  const last = facts.findLast((fact) => fact.type === "run.finished");
  if (last && (lastRun?.runId !== last.runId || lastRun.status !== last.status))
    flaws.push(`I15: the fold gives that ${lastRun?.runId} ended last, ${lastRun?.status}, and the log has ${last.runId}, ${last.status}`);
  return flaws;
}

/** Where one text begins to differ from another. */
function placeOf(text: string, other: string): string {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  const around = (whole: string): string => whole.slice(Math.max(0, at - 60), at + 100);
  return `...${around(text)}... and the log folds to ...${around(other)}...`;
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
