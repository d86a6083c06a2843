import { memoryStore } from "../memory/memory-store.ts";
import type { SessionIndex } from "../ports/session-index.ts";
import type { SessionLog } from "../ports/session-log.ts";
import type { IndexUnderTest } from "./index-under-test.ts";
import type { Make } from "./store-case.ts";

/** An index in memory some methods of which were replaced; `reopen` is honest, it gives the same index back. */
export function spoiledIndex(spoil: (real: SessionIndex, log: SessionLog) => Partial<SessionIndex>): Make<IndexUnderTest> {
  return async () => {
    const { index: real, log } = memoryStore();
    const index: SessionIndex = { ...real, ...spoil(real, log) };
    return { index, log, reopen: async () => index };
  };
}
