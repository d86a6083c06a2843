import { manualClock, systemClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { memoryBlobs } from "../../test/memory-blobs.ts";
import { blobStore } from "../blob-store.ts";
import { OpenLogs } from "../log/open-logs.ts";
import { SessionTexts } from "./session-texts.ts";

it("texts are kept while there is room, the ones used last, and read again when they are not", async () => {
  const blobs = memoryBlobs({ clock: manualClock() });
  const { log } = blobStore({ blobs });
  const refs = ["a", "b", "c"].map((session) => ({ scope: "local", session }));
  for (const ref of refs) {
    const message = { role: "user", content: `${ref.session} says` } as const;
    const facts = [{ type: "input.accepted", inputId: "i", runId: "r", mode: "enqueue", message, at: 1, v: 1 } as const];
    await log.append(ref, { batchId: "b", expectedSeq: 0, facts });
  }
  const asked: string[] = [];
  const counted = {
    ...blobs,
    get(key: string) {
      if (key.includes("/slots/0000000000000001")) asked.push(key.split("/")[2] ?? "");
      return blobs.get(key);
    },
  };
  const logs = new OpenLogs({ blobs: counted, clock: systemClock, deadlineMs: 1_000 });
  for (const ref of refs) await logs.of(ref).run(() => logs.of(ref).known());
  asked.length = 0;
  // Room for two texts of six characters.
  const texts = new SessionTexts(13);
  const read = async (session: string): Promise<void> =>
    expect(await texts.of(logs.of({ scope: "local", session }), 1)).toEqual([`${session} says`]);
  for (const session of ["a", "b", "a", "c", "a", "b"]) await read(session);
  expect(asked).toEqual(["a", "b", "c", "b"]);
});
