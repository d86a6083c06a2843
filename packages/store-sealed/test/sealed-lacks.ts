import type { Lack } from "@loopwright/testing";

/** Master keys of tests. */
export const master: { readonly current: string; readonly keys: { readonly m1: Uint8Array } } = {
  current: "m1",
  keys: { m1: new Uint8Array(32).fill(7) },
};

/** The capabilities that an encrypted store lacks, for one reason. */
const lacksOf = (reason: string, ...capabilities: string[]): readonly Lack[] => capabilities.map((capability) => ({ capability, reason }));

/** What an encrypted store lacks, whatever it wraps. */
export const sealedLacks: readonly Lack[] = [
  ...lacksOf("what happens behind the store's back is that of the store below", "corrupt", "tamper", "rollback", "gaps", "marks"),
  ...lacksOf("what happens behind the store's back is that of the store below", "ruin", "full", "unknown", "work"),
  ...lacksOf("a search finds whole words", "beginnings"),
];

/** What a store of one process lacks. */
export const singleLacks: readonly Lack[] = lacksOf("one process", "reopen", "another");
