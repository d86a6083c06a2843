import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { blobStore } from "../src/index.ts";
import { dying } from "./dying-blobs.ts";
import { memoryBlobs } from "./memory-blobs.ts";
import { noteBatch, ref } from "./notes.ts";

const clock = manualClock();

it("a writer may die before or after any of its requests: a session that needs an owner by its log is found", async () => {
  let [points, found] = [0, 0];
  for (const due of [0, 7, null]) {
    for (let dies = 1; ; dies++) {
      const blobs = memoryBlobs({ clock });
      const before = blobStore({ blobs });
      await before.log.append(ref, noteBatch("b1", 0, { due: 5 }));
      await before.close();
      const wasWhole = await blobStore({ blobs: dying(blobs, dies) })
        .log.append(ref, noteBatch("b2", 1, { due }))
        .then(
          () => true,
          () => false,
        );
      const { log } = blobStore({ blobs });
      const isIn = (await log.head(ref)).lastSeq === 2;
      const wanted = isIn ? due : 5;
      const listed = await log.due({ now: 100 });
      // A mark of an entry that never came counts until its slot is taken.
      expect(
        listed.map((one) => one.due),
        `${due}, request ${dies}`,
      ).toEqual(wanted === null ? [] : [isIn ? wanted : expect.any(Number)]);
      await log.append(ref, noteBatch("b3", isIn ? 2 : 1));
      expect(
        (await log.due({ now: 100 })).map((one) => one.due),
        `${due}, request ${dies}, later`,
      ).toEqual(wanted === null ? [] : [wanted]);
      expect([...blobs.objects.keys()].filter((key) => key.startsWith("due/")).length, `${due}, request ${dies}: marks`).toBe(
        wanted === null ? 0 : 1,
      );
      points++;
      if (isIn) found++;
      if (wasWhole) break;
    }
  }
  console.info(`Writers that died: ${points} points, ${found} after the log had it.`);
  expect(found).toBeGreaterThan(3);
});
