import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { memoryBlobs } from "../../test/memory-blobs.ts";
import { noteBatch } from "../../test/notes.ts";
import { blobStore } from "../index.ts";
import { OpenLogs } from "../log/open-logs.ts";
import { SessionSummaries } from "./session-summaries.ts";
import { sharedList } from "./shared-list.ts";

it("sessions that are not kept any more are marked again before they are written, and listed all the same", async () => {
  const clock = manualClock();
  const blobs = memoryBlobs({ clock });
  const store = blobStore({ blobs, clock });
  const refs = ["one", "two", "three"].map((session) => ({ scope: "local", session }));
  for (const one of refs) await store.log.append(one, noteBatch("b", 0));
  await store.close();
  const logs = new OpenLogs({ blobs, clock, deadlineMs: 1_000 });
  const summaries = new SessionSummaries(logs, { places: undefined, sessionsMax: 2 });
  const markOf = (session: string): string | undefined => blobs.objects.get(`summaries/local/${session}`)?.etag;
  for (const one of refs) await summaries.mark(logs.of(one), 1);
  const [first, last] = [markOf("one"), markOf("three")];
  await summaries.mark(logs.of({ scope: "local", session: "three" }), 1);
  await summaries.mark(logs.of({ scope: "local", session: "one" }), 1);
  expect(markOf("three")).toBe(last);
  expect(markOf("one")).not.toBe(first);
  expect((await sharedList({ blobs, summaries }, "local", { limit: 10 })).map(({ id, lastSeq }) => `${id} ${lastSeq}`).sort()).toEqual([
    "one 1",
    "three 1",
    "two 1",
  ]);
});
