import { type KeyRing, masterKeyOf, masterKeys } from "@loopwright/secrets";
import type { Lack } from "@loopwright/testing";

/** The master key of tests. */
export const master: KeyRing = masterKeys(await masterKeyOf(btoa("7".repeat(32))));

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
