import type { Json } from "@loopwright/core";
import type { SessionLog, SnapshotStore } from "@loopwright/core/ports";
import { expectSame } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { noteBatch, sampleRef } from "../samples/sample-facts.ts";

/** A fresh snapshot store, and the log of the same store where there is one. */
export interface SnapshotsUnderTest {
  readonly snapshots: SnapshotStore;
  /** Capability `log`: removing a session removes its snapshots. */
  readonly log?: SessionLog;
}

const other = { scope: "local", session: "second" };
const foreign = { scope: "other", session: sampleRef.session };

/** The promises of `SnapshotStore`. Capabilities: `log`. */
export const snapshotStoreKit: StoreKit<SnapshotsUnderTest> = [
  {
    id: "round-trip",
    promise: "a snapshot comes back as it was put",
    async run(make) {
      const { snapshots } = await make();
      const values: readonly Json[] = [null, false, 0.5, "", "é \u2028 👩‍👩‍👧", [1, [2]], { a: { b: [null] } }];
      for (const value of values) {
        await snapshots.put(sampleRef, "fold", value);
        expectSame(await snapshots.get(sampleRef, "fold"), value, "the value");
      }
    },
  },
  {
    id: "absent",
    promise: "an unknown snapshot is undefined, and removing it does nothing",
    async run(make) {
      const { snapshots } = await make();
      expectSame(await snapshots.get(sampleRef, "fold"), undefined, "the value");
      await snapshots.remove(sampleRef, "fold");
    },
  },
  {
    id: "remove",
    promise: "a removed snapshot is gone; the others of the session stay",
    async run(make) {
      const { snapshots } = await make();
      await snapshots.put(sampleRef, "a", 1);
      await snapshots.put(sampleRef, "b", 2);
      await snapshots.remove(sampleRef, "a");
      expectSame(await snapshots.get(sampleRef, "a"), undefined, "the removed value");
      expectSame(await snapshots.get(sampleRef, "b"), 2, "the other");
    },
  },
  {
    id: "apart",
    promise: "snapshots of two names, sessions or scopes are apart",
    async run(make) {
      const { snapshots } = await make();
      await snapshots.put(sampleRef, "a", 1);
      expectSame(await snapshots.get(sampleRef, "b"), undefined, "another name");
      expectSame(await snapshots.get(other, "a"), undefined, "another session");
      expectSame(await snapshots.get(foreign, "a"), undefined, "another scope");
    },
  },
  {
    id: "large",
    promise: "a snapshot of 1 MB comes back whole",
    async run(make) {
      const { snapshots } = await make();
      const value = "x".repeat(1_000_000);
      await snapshots.put(sampleRef, "a", value);
      expectSame(await snapshots.get(sampleRef, "a"), value, "the value");
    },
  },
  {
    id: "session-removed",
    promise: "removing a session removes its snapshots, and no other's",
    needs: ["log"],
    async run(make) {
      const { snapshots, log } = await make();
      await log?.append(sampleRef, noteBatch("b1", 0));
      await snapshots.put(sampleRef, "a", 1);
      await snapshots.put(other, "a", 2);
      await log?.remove(sampleRef);
      expectSame(await snapshots.get(sampleRef, "a"), undefined, "the value of the removed session");
      expectSame(await snapshots.get(other, "a"), 2, "the other's");
    },
  },
  {
    id: "late",
    promise: "a snapshot of a session that was removed is not kept",
    needs: ["log"],
    async run(make) {
      const { snapshots, log } = await make();
      await log?.append(sampleRef, noteBatch("b1", 0));
      await log?.remove(sampleRef);
      await snapshots.put(sampleRef, "a", 1);
      expectSame(await snapshots.get(sampleRef, "a"), undefined, "the value");
    },
  },
];
