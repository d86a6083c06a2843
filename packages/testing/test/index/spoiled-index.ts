import { countedMemoryStore } from "@loopwright/core/internals";
import type { SessionIndex, SessionLog } from "@loopwright/core/ports";
import type { IndexUnderTest } from "../../src/index/index-under-test.ts";
import type { Make } from "../../src/kit/store-case.ts";

/** An index in memory some methods of which were replaced; `reopen` is honest, it gives the same index back; `ruin` is known to the replacements alone. */
export function spoiledIndex(
  spoil: (real: SessionIndex, log: SessionLog, isRuined: () => boolean) => Partial<SessionIndex>,
  searchSessionsMax = 20,
): Make<IndexUnderTest> {
  return async () => {
    const { store, work } = countedMemoryStore({ searchSessionsMax });
    const { index: real, log } = store;
    let isRuined = false;
    const index: SessionIndex = { ...real, ...spoil(real, log, () => isRuined) };
    const ruin = async (): Promise<void> => {
      isRuined = true;
    };
    return { index, log, reopen: async () => index, ruin, work: async () => work() };
  };
}
