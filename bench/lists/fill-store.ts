import { type Fact, factVersion } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";

const writers = 128;
/** Words by how many sessions have them: all of them, one in ten, one in a hundred, one in ten thousand. */
const shares = [1, 10, 100, 10_000] as const;

/** A word that one session in `share` has. */
export const wordOf = (share: number): string => `flower${share}`;

export const wordShares: readonly number[] = shares;

/** Writes the sessions from a number on to another one, each with a title, a question and its own words. */
export async function fillStore(
  store: SessionStore,
  scope: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  let next = from;
  const write = async (): Promise<void> => {
    for (let number = next++; number < to; number = next++) {
      const outcome = await store.log.append(
        { scope, session: `s${number}` },
        { expectedSeq: 0, batchId: "first", facts: factsOf(number), due: null },
      );
      if (outcome.type !== "ok") throw new Error(`The store answered ${outcome.type}.`);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

function factsOf(number: number): readonly Fact[] {
  const words = shares.filter((share) => number % share === 0).map(wordOf);
  const content = `Tell me about ${words.join(" and ")}, please, for the garden number ${number}.`;
  const at = 1_700_000_000_000 + number;
  return [
    { type: "session.opened", seq: 1, at, v: factVersion, agent: "bench", participants: ["local", "bench"] },
    { type: "session.changed", seq: 2, at, v: factVersion, title: `Garden ${number}` },
    {
      type: "input.accepted",
      seq: 3,
      at,
      v: factVersion,
      inputId: `in${number}`,
      runId: "r",
      message: { role: "user", content },
      mode: "enqueue",
    },
  ];
}
