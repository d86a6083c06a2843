import { AgentError } from "@loopwright/core";

/** What documents and searches may use up. */
export interface KnowledgeLimits {
  /** Bytes of one file. Default 10 MiB. */
  readonly fileBytesMax: number;
  /** Characters of the text of one document. Default 2,000,000. */
  readonly textMax: number;
  /** Characters of one passage. Default 1,500. */
  readonly passageMax: number;
  /** Characters of a question; of a longer one the beginning is searched for. Default 2,000. */
  readonly queryMax: number;
  /** Passages that a search gives at most. Default 20. */
  readonly resultsMax: number;
}

export const defaultKnowledgeLimits: KnowledgeLimits = {
  fileBytesMax: 10 * 1024 * 1024,
  textMax: 2_000_000,
  passageMax: 1_500,
  queryMax: 2_000,
  resultsMax: 20,
};

/** Short of it a passage would hold no sentence. */
const passageMin = 100;

/** The limits with their defaults. @throws AgentError CONFIG_INVALID for one that is no whole number from 1, or a passage of fewer than 100 characters */
export function checkedLimits(given: Partial<KnowledgeLimits> = {}): KnowledgeLimits {
  const limits: KnowledgeLimits = { ...defaultKnowledgeLimits, ...given };
  for (const [name, value] of Object.entries(limits)) {
    const least = name === "passageMax" ? passageMin : 1;
    if (!(Number.isSafeInteger(value) && value >= least))
      throw new AgentError("CONFIG_INVALID", { message: `\`limits.${name}\` is ${value}.`, fix: `Use a whole number from ${least} on.` });
  }
  return limits;
}
