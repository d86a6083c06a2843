import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createAgent, createSession, execute } from "@loopwright/core";
import { manualClock, scripted } from "@loopwright/core/memory";
import { expect, it, onTestFinished } from "vitest";
import { blobStore, type ConditionalBlobs, type ConversationView, fileBlobs } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { memoryBlobs } from "./memory-blobs.ts";
import { noteBatch } from "./notes.ts";

const root = freshFolder();
let count = 0;

function fresh() {
  const folder = join(root, String(count++));
  const open = () => {
    const store = blobStore({ blobs: fileBlobs({ folder }) });
    onTestFinished(() => store.close());
    return store;
  };
  const views = (): readonly string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.startsWith("_platform") && name.endsWith(".json"));
  return { folder, open, views };
}

function helper() {
  return createAgent({ name: "helper", provider: scripted([{ text: "Red ones." }, { text: "Green too." }]) });
}

it("after one answered message exactly one view exists, under the session's key, and parses", async () => {
  const { folder, open, views } = fresh();
  const store = open();
  const session = createSession({ agent: helper(), id: "apples", store });
  expect((await execute(session, "Which apples?").result()).status).toBe("completed");
  await store.close();
  expect(views()).toEqual(["_platform/ai-conversations/local/apples.json"]);
  const view: ConversationView = JSON.parse(readFileSync(join(folder, "_platform/ai-conversations/local/apples.json"), "utf8"));
  expect(view).toMatchObject({
    format: 1,
    id: "apples",
    scope: "local",
    agent: "helper",
    status: "idle",
    lastRun: { status: "completed" },
    messages: [
      { role: "user", content: "Which apples?" },
      { role: "assistant", content: [{ type: "text", text: "Red ones." }] },
    ],
  });
  expect(view.messages.map(({ id, at }) => [typeof id, typeof at])).toEqual([
    ["string", "number"],
    ["string", "number"],
  ]);
});

it("deleting the view loses nothing: the conversation goes on, and the next rest writes it anew", async () => {
  const { folder, open, views } = fresh();
  const first = open();
  await execute(createSession({ agent: helper(), id: "apples", store: first }), "Which apples?").result();
  await first.close();
  rmSync(join(folder, "_platform"), { recursive: true });
  const second = open();
  const session = createSession({ agent: helper(), id: "apples", store: second });
  await session.ready();
  expect(session.snapshot().messages.length).toBe(2);
  await execute(session, "And which else?").result();
  expect(await second.index.search("local", "apples")).toHaveLength(1);
  await second.close();
  const view: ConversationView = JSON.parse(readFileSync(join(folder, views()[0] ?? ""), "utf8"));
  expect(view.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
});

it("the view goes with its session", async () => {
  const { open, views } = fresh();
  const store = open();
  for (const id of ["apples", "pears"]) await execute(createSession({ agent: helper(), id, store }), "Which?").result();
  await store.log.remove({ scope: "local", session: "apples" });
  await store.close();
  expect(views()).toEqual(["_platform/ai-conversations/local/pears.json"]);
});

it("a session that changes ten times in a second is written down twice: at once, and when the second is over", async () => {
  const clock = manualClock();
  const blobs = memoryBlobs({ clock });
  const written: number[] = [];
  const counted: ConditionalBlobs = {
    ...blobs,
    put(key, bytes, options) {
      if (key.startsWith("_platform/")) written.push(clock.monotonic());
      return blobs.put(key, bytes, options);
    },
  };
  const store = blobStore({ blobs: counted, clock });
  const ref = { scope: "local", session: "first" };
  for (let seq = 0; seq < 10; seq++) {
    await store.log.append(ref, noteBatch(`b${seq}`, seq));
    clock.advance(50);
  }
  await expect.poll(() => written.length).toBe(1);
  clock.advance(499);
  expect(clock.pending).toBe(1);
  clock.advance(1);
  await expect.poll(() => written.length).toBe(2);
  await store.close();
  expect(written).toEqual([expect.any(Number), 1_000]);
  const view: ConversationView = JSON.parse(
    new TextDecoder().decode(blobs.objects.get("_platform/ai-conversations/local/first.json")?.bytes),
  );
  expect(view).toMatchObject({ lastSeq: 10, title: "b9.0" });
});
