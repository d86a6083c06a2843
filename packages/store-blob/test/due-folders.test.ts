import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { blobStore, fileBlobs } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { noteBatch } from "./notes.ts";

const folder = freshFolder();

it("leaves nothing under `due` of sessions that owe nothing any more, not even folders", async () => {
  const store = blobStore({ blobs: fileBlobs({ folder }) });
  const sessions = ["one", "two", "three"].map((session) => ({ scope: "local", session }));
  for (const [at, session] of sessions.entries()) {
    await store.log.append(session, noteBatch("a", 0, { due: 0 }));
    await store.log.append(session, noteBatch("b", 1, { due: 1_000 + at }));
  }
  expect((await store.log.due({ now: 5_000 })).map(({ ref: { session }, due }) => `${session} ${due}`)).toEqual([
    "one 1000",
    "two 1001",
    "three 1002",
  ]);
  for (const session of sessions) await store.log.append(session, noteBatch("c", 2, { due: null }));
  await store.close();
  expect(readdirSync(join(folder, "due"), { recursive: true })).toEqual([]);
});
