import type { Json } from "@loopwright/core";
import type { DraftStore, SessionLog } from "@loopwright/core/ports";
import { expectSame } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { noteBatch, sampleRef } from "../samples/sample-facts.ts";

/** A fresh draft store, and the log of the same store where there is one. */
export interface DraftsUnderTest {
  readonly drafts: DraftStore;
  /** Capability `log`: removing a session takes its drafts along. */
  readonly log?: SessionLog;
}

const other = { scope: "local", session: "second" };
const foreign = { scope: "other", session: sampleRef.session };

/** The promises of `DraftStore`. Capabilities: `log`. */
export const draftStoreKit: StoreKit<DraftsUnderTest> = [
  {
    id: "round-trip",
    promise: "a draft comes back as it was put",
    async run(make) {
      const { drafts } = await make();
      const values: readonly Json[] = [null, false, 0.5, "", "é \u2028 👩‍👩‍👧", [1, [2]], { a: { b: [null] } }];
      for (const value of values) {
        await drafts.put(sampleRef, "draft", value);
        expectSame(await drafts.get(sampleRef, "draft"), value, "the value");
      }
    },
  },
  {
    id: "absent",
    promise: "an unknown draft is undefined, and removing it does nothing",
    async run(make) {
      const { drafts } = await make();
      expectSame(await drafts.get(sampleRef, "draft"), undefined, "the value");
      await drafts.remove(sampleRef, "draft");
    },
  },
  {
    id: "remove",
    promise: "a removed draft is gone; the others of the session stay",
    async run(make) {
      const { drafts } = await make();
      await drafts.put(sampleRef, "a", 1);
      await drafts.put(sampleRef, "b", 2);
      await drafts.remove(sampleRef, "a");
      expectSame(await drafts.get(sampleRef, "a"), undefined, "the removed value");
      expectSame(await drafts.get(sampleRef, "b"), 2, "the other");
    },
  },
  {
    id: "apart",
    promise: "drafts of two names, sessions or scopes are apart",
    async run(make) {
      const { drafts } = await make();
      await drafts.put(sampleRef, "a", 1);
      expectSame(await drafts.get(sampleRef, "b"), undefined, "another name");
      expectSame(await drafts.get(other, "a"), undefined, "another session");
      expectSame(await drafts.get(foreign, "a"), undefined, "another scope");
    },
  },
  {
    id: "large",
    promise: "a draft of 1 MB comes back whole",
    async run(make) {
      const { drafts } = await make();
      const value = "x".repeat(1_000_000);
      await drafts.put(sampleRef, "a", value);
      expectSame(await drafts.get(sampleRef, "a"), value, "the value");
    },
  },
  {
    id: "session-removed",
    promise: "removing a session removes its drafts, and no other's",
    needs: ["log"],
    async run(make) {
      const { drafts, log } = await make();
      await log?.append(sampleRef, noteBatch("b1", 0));
      await drafts.put(sampleRef, "a", 1);
      await drafts.put(other, "a", 2);
      await log?.remove(sampleRef);
      expectSame(await drafts.get(sampleRef, "a"), undefined, "the value of the removed session");
      expectSame(await drafts.get(other, "a"), 2, "the other's");
    },
  },
  {
    id: "late",
    promise: "a draft of a session that was removed is not kept",
    needs: ["log"],
    async run(make) {
      const { drafts, log } = await make();
      await log?.append(sampleRef, noteBatch("b1", 0));
      await log?.remove(sampleRef);
      await drafts.put(sampleRef, "a", 1);
      expectSame(await drafts.get(sampleRef, "a"), undefined, "the value");
    },
  },
];
