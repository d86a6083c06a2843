import { manualClock } from "@loopwright/core/memory";
import { describe } from "vitest";
import { blobStore, type ConditionalBlobs } from "../src/index.ts";
import { keyOfFact, withFlippedBit } from "./damage.ts";
import { inTurns } from "./in-turns.ts";
import { memoryBlobs } from "./memory-blobs.ts";
import { describeStoreKits } from "./store-kits.ts";
import { tamperedSlots } from "./tamper.ts";

describe("two nodes on objects in memory, asked in turns", () =>
  describeStoreKits(async () => {
    const clock = manualClock();
    const blobs = memoryBlobs({ clock });
    let losesAnswer = false;
    const lossy: ConditionalBlobs = {
      ...blobs,
      async put(key, bytes, options) {
        const outcome = await blobs.put(key, bytes, options);
        if (!losesAnswer || !key.includes("/slots/")) return outcome;
        losesAnswer = false;
        return { type: "unknown" };
      },
    };
    return {
      open: () =>
        inTurns([
          blobStore({ blobs: lossy, compactAfter: 8, heldLookMs: 0 }),
          blobStore({ blobs: lossy, compactAfter: 16, heldLookMs: 0 }),
        ]),
      more: (current) => ({
        advance: (ms) => clock.advance(ms),
        async damage(ref, seq) {
          // Another node would not know before it has looked.
          current().stay();
          await current().log.head(ref);
          const key = keyOfFact(
            [...blobs.objects].map(([name, { bytes }]) => [name, bytes]),
            ref,
            seq,
          );
          const found = blobs.objects.get(key);
          if (found) blobs.objects.set(key, { ...found, bytes: withFlippedBit(found.bytes, (found.bytes.length - 3) * 8) });
        },
        async tamper(ref, seq, way) {
          // Another node would not know before it has looked.
          current().stay();
          await current().log.head(ref);
          const objects = new Map([...blobs.objects].map(([key, { bytes }]) => [key, bytes]));
          for (const [key, bytes] of tamperedSlots(objects, ref, { seq, way })) {
            const found = blobs.objects.get(key);
            if (bytes) blobs.objects.set(key, { etag: "forged", writtenMs: clock.monotonic(), ...found, bytes });
            else blobs.objects.delete(key);
          }
        },
        async rollBack() {
          const kept = new Map(blobs.objects);
          return async () => {
            blobs.objects.clear();
            for (const [key, object] of kept) blobs.objects.set(key, object);
          };
        },
        async ruin({ scope, session }) {
          const own = new RegExp(`^(?:sessions/${scope}/${session}/|(?:leases|summaries)/${scope}/${session}$)`);
          for (const [name, object] of blobs.objects)
            if (own.test(name))
              blobs.objects.set(name, { ...object, etag: `ruined ${object.etag}`, bytes: new TextEncoder().encode("nonsense") });
        },
        loseAnswer: () => {
          losesAnswer = true;
        },
      }),
    };
  }, [
    { capability: "subscribe", reason: "where many machines may write, the driver polls" },
    { capability: "work", reason: "requests are counted in `bounded-pages.test.ts`" },
    {
      capability: "gaps",
      reason: "a place of many writers may be a moment behind, so that a look at the last slot proves nothing: decision 0021",
    },
    { capability: "marks", reason: "folders and buckets keep none yet: decision 0030" },
    { capability: "full", reason: "memory has no bound of its own" },
  ]));
