import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { blobStore, type ConditionalBlobs } from "../src/index.ts";
import { storeLimits } from "../src/store-limits.ts";
import { memoryBlobs } from "./memory-blobs.ts";
import { noteBatch, titlesOf } from "./notes.ts";

it("more sessions than are kept open are written, listed and read all the same", async () => {
  const blobs: ConditionalBlobs = { ...memoryBlobs({ clock: manualClock() }), exclusive: { life: "one" } };
  const store = blobStore({ blobs, compactAfter: 2 });
  const refs = Array.from({ length: storeLimits.openLogsMax + 100 }, (_, at) => ({ scope: "local", session: `s${at}` }));
  for (let seq = 0; seq < 3; seq++)
    await Promise.all(
      refs.map(async (one) => expect(await store.log.append(one, noteBatch(`b${seq}`, seq))).toEqual({ type: "ok", lastSeq: seq + 1 })),
    );
  expect((await store.index.list("local", { limit: 5_000 })).map(({ lastSeq }) => lastSeq)).toEqual(refs.map(() => 3));
  for (const one of [refs[0], refs.at(-1)]) expect(await titlesOf(store.log, one)).toEqual(["b0.0", "b1.0", "b2.0"]);
  await store.close();
});
