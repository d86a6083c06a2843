import { manualClock, memoryStore } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { blobStoreKit, runKit, sessionIndexKit, sessionLogKit, snapshotStoreKit } from "@loopwright/testing";
import { describe, it } from "vitest";
import { sealedStore, wrappedKeys } from "../src/index.ts";
import { master, sealedLacks, singleLacks } from "./sealed-lacks.ts";

/** An encrypted store in memory; `kits.long.test.ts` has one over SQLite. */
function inMemory(): { readonly store: SessionStore; readonly clock: ReturnType<typeof manualClock> } {
  const clock = manualClock();
  return { store: sealedStore(memoryStore({ clock }), { keys: wrappedKeys({ blobs: memoryStore().blobs, master }) }), clock };
}

describe("an encrypted store in memory", () => {
  const lacks = [...sealedLacks, ...singleLacks];
  runKit(it, sessionLogKit, {
    make: async () => {
      const { store, clock } = inMemory();
      return { log: store.log, advance: (ms: number) => clock.advance(ms) };
    },
    lacks,
  });
  runKit(it, sessionIndexKit, { make: async () => inMemory().store, lacks });
  runKit(it, blobStoreKit, { make: async () => inMemory().store, lacks });
  runKit(it, snapshotStoreKit, { make: async () => inMemory().store, lacks });
});
