import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { blobStore, type ConditionalBlobs, type ConversationView } from "../src/index.ts";
import { storeLimits } from "../src/store-limits.ts";
import { memoryBlobs } from "./memory-blobs.ts";
import { noteBatch, ref, titlesOf } from "./notes.ts";

it("more sessions than are kept open are written, listed and read all the same", async () => {
  const blobs: ConditionalBlobs = { ...memoryBlobs({ clock: manualClock() }), exclusive: { life: "one" } };
  const store = blobStore({ blobs, compactAfter: 2, conversationViews: false });
  const refs = Array.from({ length: storeLimits.openLogsMax + 100 }, (_, at) => ({ scope: "local", session: `s${at}` }));
  for (let seq = 0; seq < 3; seq++)
    await Promise.all(
      refs.map(async (one) => expect(await store.log.append(one, noteBatch(`b${seq}`, seq))).toEqual({ type: "ok", lastSeq: seq + 1 })),
    );
  expect((await store.index.list("local", { limit: 5_000 })).map(({ lastSeq }) => lastSeq)).toEqual(refs.map(() => 3));
  for (const one of [refs[0], refs.at(-1)]) expect(await titlesOf(store.log, one)).toEqual(["b0.0", "b1.0", "b2.0"]);
  await store.close();
});

it("a view holds the newest messages and says how many it leaves out; more conversations than are kept folded are written", async () => {
  const blobs = memoryBlobs({ clock: manualClock() });
  const store = blobStore({ blobs });
  const context = Array.from({ length: storeLimits.viewMessagesMax + 5 }, (_, at) => ({ role: "user" as const, content: `${at}` }));
  await store.log.append(ref, { batchId: "b", expectedSeq: 0, facts: [{ type: "session.opened", agent: "a", context, at: 1, v: 1 }] });
  const sessions = Array.from({ length: storeLimits.foldsMax + 3 }, (_, at) => `s${at}`);
  for (const session of sessions) await store.log.append({ scope: "local", session }, noteBatch("b", 0));
  await store.close();
  const viewOf = (session: string): ConversationView =>
    JSON.parse(new TextDecoder().decode(blobs.objects.get(`_platform/ai-conversations/local/${session}.json`)?.bytes));
  const view = viewOf("first");
  expect([view.messages.length, view.earlierCount, view.messages[0]?.role]).toEqual([storeLimits.viewMessagesMax, 5, "user"]);
  expect(view.messages[0]).toMatchObject({ content: "5" });
  for (const session of sessions) expect(viewOf(session).lastSeq).toBe(1);
});
