import { manualClock } from "@loopwright/core/memory";
import { describe, onTestFinished } from "vitest";
import { blobStore, s3Blobs } from "../src/index.ts";
import { keyOfFact, withFlippedBit } from "./damage.ts";
import { fakeS3Place, startFakeS3 } from "./fake-s3.ts";
import { describeStoreKits } from "./store-kits.ts";
import { tamperedSlots } from "./tamper.ts";

const prefix = "here & there/";

describe("a strict S3 server", () =>
  describeStoreKits(async () => {
    const clock = manualClock();
    const fake = await startFakeS3(clock);
    onTestFinished(() => fake.close());
    const blobs = { ...fakeS3Place, endpoint: fake.endpoint, prefix, deadlineMs: 60_000 };
    const node = () => blobStore({ blobs: s3Blobs(blobs), heldLookMs: 0 });
    const startMs = clock.monotonic();
    let askedMs = 0;
    return {
      open: node,
      more: () => ({
        // The server's clock shows whole seconds, so a part of a second counts once the clock has moved past it. The clock is less than one
        // second ahead of the time that was asked for in all: a second more per step would end a lease early.
        advance: (ms) => {
          askedMs += ms;
          const wantedMs = startMs + askedMs + (askedMs % 1_000 === 0 ? 0 : 999);
          clock.advance(Math.max(0, wantedMs - clock.monotonic()));
        },
        async tamper(ref, seq, way) {
          const objects = new Map([...fake.objects].map(([name, { bytes }]) => [name.slice(prefix.length), bytes]));
          for (const [key, bytes] of tamperedSlots(objects, ref, { seq, way })) {
            const found = fake.objects.get(prefix + key) ?? [...fake.objects.values()][0];
            if (bytes && found) fake.objects.set(prefix + key, { ...found, bytes });
            else fake.objects.delete(prefix + key);
          }
        },
        async rollBack() {
          const kept = new Map(fake.objects);
          return async () => {
            fake.objects.clear();
            for (const [name, object] of kept) fake.objects.set(name, object);
          };
        },
        async ruin(ref) {
          for (const [name, object] of fake.objects)
            if (/^(?:sessions|leases|summaries)\//.test(name.slice(prefix.length)) && name.includes(`/${ref.scope}/${ref.session}`))
              fake.objects.set(name, { ...object, bytes: new TextEncoder().encode("nonsense") });
        },
        async damage(ref, seq) {
          const key =
            prefix +
            keyOfFact(
              [...fake.objects].map(([name, { bytes }]) => [name.slice(prefix.length), bytes]),
              ref,
              seq,
            );
          const found = fake.objects.get(key);
          if (found) fake.objects.set(key, { ...found, bytes: withFlippedBit(found.bytes, (found.bytes.length - 3) * 8) });
        },
      }),
    };
  }, [
    { capability: "subscribe", reason: "where many machines may write, the driver polls" },
    { capability: "full", reason: "a bucket has no bound; lack of space is among the tests of faults" },
    { capability: "gaps", reason: "a bucket may be a moment behind, so that a look at the last slot proves nothing: decision 0021" },
    { capability: "marks", reason: "folders and buckets keep none yet: decision 0030" },
    { capability: "work", reason: "requests are counted in `bounded-pages.test.ts`" },
    { capability: "unknown", reason: "a lost answer is made good by a second try; lost ones are among the tests of faults" },
  ]));
