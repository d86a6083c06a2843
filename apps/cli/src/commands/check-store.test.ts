import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createSession, execute } from "@loopwright/core";
import { offline } from "@loopwright/providers-scripted";
import { sqliteStore } from "@loopwright/store-sqlite";
import { expect, onTestFinished, test } from "vitest";
import { storePlaceOf } from "../config/store-place.ts";
import { localShelf } from "../shelf/local-shelf.ts";
import { checkStore } from "./check-store.ts";

/** A disk of 1 MiB on which everything happens; a sentence where none can be mounted. */
function smallDisk(): { readonly folder: string; readonly mount: (options: string) => void } | string {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-disk-"));
  const mount = (options: string): void => void execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "ignore" });
  try {
    mount("size=1m");
  } catch {
    rmSync(folder, { recursive: true });
    return "A disk of 1 MiB cannot be mounted here.";
  }
  onTestFinished(() => {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true });
  });
  return { folder, mount };
}

async function storeWithOneSession(file: string): Promise<void> {
  const store = sqliteStore(file);
  const agent = createAgent({ name: "assistant", provider: offline({ pace: 0 }) });
  await execute(createSession({ agent, store, id: "one" }), "hello").result();
  await store.close();
}

test("a disk that became read-only: sessions are listed, and doctor reports that nothing can be written", async ({ skip }) => {
  const disk = smallDisk();
  if (typeof disk === "string") return skip(disk);
  const settings = { store: storePlaceOf("sessions.db", disk.folder), environment: {}, filesDirectory: join(disk.folder, "files") };
  await storeWithOneSession(join(disk.folder, "sessions.db"));
  expect(await checkStore(settings)).toMatchObject({ state: "ok", text: expect.stringMatching(/1 sessions, \d+ facts, \d+ KiB$/) });
  disk.mount("remount,ro");
  const shelf = await localShelf(settings);
  expect((await shelf.list(10)).sessions.map(({ id }) => id)).toEqual(["one"]);
  await shelf.close();
  expect(await checkStore(settings)).toMatchObject({ state: "bad", text: expect.stringMatching(/1 sessions[\s\S]*\(STORE_READ_ONLY\)/) });
  const missing = { ...settings, store: storePlaceOf("new/sessions.db", disk.folder) };
  expect(await checkStore(missing)).toMatchObject({ state: "bad", text: expect.stringContaining("(not made yet, and ") });
});

test("what doctor writes to see whether it can leaves nothing behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "loopwright-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const text of ["sessions.db", "file:folder"]) {
    const settings = { store: storePlaceOf(text, folder), environment: {} };
    expect(await checkStore(settings)).toMatchObject({ state: "note", text: expect.stringContaining("not made yet") });
    if (settings.store.kind === "files") mkdirSync(settings.store.folder);
    else await storeWithOneSession(join(folder, text));
    expect(await checkStore(settings)).toMatchObject({ state: "ok" });
  }
  const store = sqliteStore(join(folder, "sessions.db"));
  onTestFinished(() => store.close());
  expect([await store.blobs.list("doctor"), (await store.check()).sessionCount]).toEqual([[], 1]);
});
