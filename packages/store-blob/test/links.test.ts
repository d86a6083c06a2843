import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createAgent, createSession, execute } from "@loopwright/core";
import { scripted, silentLogger } from "@loopwright/core/memory";
import type { SessionLog } from "@loopwright/core/ports";
import { expect, it, onTestFinished } from "vitest";
import { openFile, sealFile } from "../src/files/file-format.ts";
import { blobStore, fileBlobs } from "../src/index.ts";
import { openEntry, sealEntry } from "../src/log/log-entry.ts";
import { freshFolder } from "./fresh-folder.ts";
import { noteBatch, ref, titlesOf, writeNotes } from "./notes.ts";

const root = freshFolder();
let count = 0;
const freshPath = (): string => join(root, String(count++));

function open(folder: string, compactAfter?: number) {
  const store = blobStore({
    blobs: fileBlobs({ folder }),
    ...(compactAfter === undefined ? {} : { compactAfter }),
  });
  onTestFinished(() => store.close());
  return store;
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error) => error.code,
  );

/** The answers to a reader, a writer and an owner of a session. */
async function codesOf(log: SessionLog, session: string): Promise<readonly unknown[]> {
  const of = { scope: "local", session };
  return [
    await codeOf(log.read(of)),
    await codeOf(log.append(of, noteBatch("news", 0))),
    await codeOf(log.claim(of, { node: "n", leaseMs: 1_000 })),
  ];
}

const corrupt = ["SESSION_CORRUPT", "SESSION_CORRUPT", "SESSION_CORRUPT"];

/** All files below a folder with their bytes. */
function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${join(entry.parentPath, entry.name)} ${readFileSync(join(entry.parentPath, entry.name), "latin1")}`)
    .sort();
}

it("a session whose folder is a link to another session's is refused, and nothing of it gets into that", async () => {
  const folder = freshPath();
  const { log } = open(folder);
  await writeNotes(log, 3);
  const sessions = join(folder, "sessions/local");
  const before = filesOf(join(sessions, "first"));
  for (const [name, target] of [
    ["full", join(sessions, "first")],
    ["relative", "first"],
  ] as const) {
    symlinkSync(target, join(sessions, name));
    expect([name, await codesOf(log, name)]).toEqual([name, corrupt]);
  }
  expect(filesOf(join(sessions, "first"))).toEqual(before);
  expect(await titlesOf(log)).toEqual(["b1.0", "b2.0", "b3.0"]);
});

it("a session whose folder is a link to an empty one outside the store gets nothing written there", async () => {
  const [folder, outside] = [freshPath(), freshPath()];
  const { log } = open(folder);
  await writeNotes(log, 1);
  mkdirSync(outside);
  symlinkSync(outside, join(folder, "sessions/local/other"));
  expect(await codesOf(log, "other")).toEqual(corrupt);
  mkdirSync(join(folder, "sessions/local/inner"));
  symlinkSync(outside, join(folder, "sessions/local/inner/slots"));
  expect(await codesOf(log, "inner")).toEqual(corrupt);
  expect(readdirSync(outside)).toEqual([]);
});

it("the folder of a session that becomes a link while the process runs is refused at the next call", async () => {
  const [folder, outside] = [freshPath(), freshPath()];
  const { log } = open(folder);
  await writeNotes(log, 3);
  const own = join(folder, "sessions/local/first");
  cpSync(own, outside, { recursive: true });
  const before = filesOf(outside);
  renameSync(own, `${own}-moved`);
  symlinkSync(outside, own);
  expect(await codeOf(log.read(ref))).toBe("SESSION_CORRUPT");
  expect(await codeOf(log.append(ref, noteBatch("b4", 3)))).toBe("SESSION_CORRUPT");
  expect(filesOf(outside)).toEqual(before);
});

it("a slot and a segment that are links, or have another name elsewhere, are refused", async () => {
  for (const part of ["slots", "segments"])
    for (const [kind, put] of [
      ["link", symlinkSync],
      ["hard link", linkSync],
    ] as const) {
      const [folder, outside] = [freshPath(), freshPath()];
      const first = open(folder, part === "segments" ? 5 : 64);
      await writeNotes(first.log, 12);
      await first.close();
      mkdirSync(outside);
      const place = join(folder, "sessions/local/first", part);
      const [name = ""] = readdirSync(place).sort();
      renameSync(join(place, name), join(outside, name));
      put(join(outside, name), join(place, name));
      expect([part, kind, await codeOf(open(folder).log.read(ref))]).toEqual([part, kind, "SESSION_CORRUPT"]);
    }
});

it("a store with a folder of its own that is a link is refused, whichever it is", async () => {
  for (const name of ["sessions", "leases", "summaries", ".drafts"]) {
    const [folder, outside] = [freshPath(), freshPath()];
    const first = open(folder);
    await first.log.claim(ref, { node: "n", leaseMs: 1_000 });
    await writeNotes(first.log, 2);
    await first.close();
    renameSync(join(folder, name), outside);
    symlinkSync(outside, join(folder, name));
    const before = filesOf(outside);
    const { log } = open(folder);
    const codes = [await codeOf(log.append(ref, noteBatch("news", 2))), await codeOf(log.claim(ref, { node: "m", leaseMs: 1_000 }))];
    expect([name, codes.every((code) => code === "SESSION_CORRUPT" || code === "STORE_CORRUPT" || code === "no error")]).toEqual([
      name,
      true,
    ]);
    expect([name, codes.some((code) => code !== "no error")]).toEqual([name, true]);
    expect(filesOf(outside)).toEqual(before);
  }
});

it("the folder of the store may itself be a link, and is one folder by all its names", async () => {
  const [folder, name] = [freshPath(), freshPath()];
  mkdirSync(folder);
  symlinkSync(folder, name);
  const store = open(name);
  await writeNotes(store.log, 2);
  await expect(open(folder).log.head(ref)).rejects.toMatchObject({ message: expect.stringContaining("already") });
  await store.close();
  expect(await titlesOf(open(folder).log)).toEqual(["b1.0", "b2.0"]);
});

it("what the process writes itself is never taken for a link, however often it is read meanwhile", async () => {
  const { log } = open(freshPath(), 5);
  for (let seq = 0; seq < 40; seq++) {
    const [outcome] = await Promise.all([log.append(ref, noteBatch(`b${seq}`, seq)), log.read(ref), log.head(ref), log.read(ref)]);
    expect(outcome.type).toBe("ok");
  }
  expect(await titlesOf(log)).toHaveLength(40);
});

/** Puts other text into a slot and seals it anew, as any user of the program can. */
function forge(folder: string, from: string, to: string): void {
  const slots = join(folder, "sessions/local/first/slots");
  let before = "";
  for (const name of readdirSync(slots).sort()) {
    const key = `sessions/local/first/slots/${name}`;
    const { header, bytes } = openFile(readFileSync(join(slots, name)), key);
    const { lines, digest, ...entry } = openEntry(bytes, { key, before });
    if (lines.some((line) => line.includes(from))) {
      const forged = sealEntry(
        entry,
        lines.map((line) => line.replaceAll(from, to)),
        { key, before },
      );
      writeFileSync(join(slots, name), sealFile(header, forged.bytes));
      return;
    }
    before = digest;
  }
  throw new Error(`No slot says ${from}.`);
}

it("a record that was changed and sealed anew under a running process is not read", async () => {
  const folder = freshPath();
  const { log } = open(folder);
  await writeNotes(log, 9);
  forge(folder, "b4.0", "forged");
  expect(await codeOf(log.read(ref))).toBe("SESSION_CORRUPT");
  expect(await codeOf(log.read(ref, { from: 4, limit: 1 }))).toBe("SESSION_CORRUPT");
  expect(await codeOf(log.append(ref, noteBatch("b10", 9)))).toBe("SESSION_CORRUPT");
  expect((await log.read(ref, { from: 5 })).length).toBe(5);
  expect(existsSync(join(folder, "sessions/local/first/slots/damaged"))).toBe(true);
});

it("a whole log that was sealed anew from the middle on, and made a piece shorter, is not taken for the one that the process knows", async () => {
  const [folder, other] = [freshPath(), freshPath()];
  const { log } = open(folder);
  await writeNotes(log, 9);
  const elsewhere = open(other);
  await writeNotes(elsewhere.log, 4);
  for (let seq = 4; seq < 9; seq++) await elsewhere.log.append(ref, noteBatch(`x${seq}`, seq));
  await elsewhere.close();
  const slots = join(folder, "sessions/local/first/slots");
  cpSync(join(other, "sessions/local/first/slots"), slots, { recursive: true, force: true });
  expect(await codeOf(log.read(ref))).toBe("SESSION_CORRUPT");
  unlinkSync(join(slots, readdirSync(slots).sort().at(-1) ?? ""));
  expect(await codeOf(log.read(ref))).toBe("SESSION_CORRUPT");
});

it("forged words are not sent to the model: a running process opens the session again and finds it damaged", async () => {
  const folder = freshPath();
  const store = open(folder);
  const provider = scripted([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
  const agent = createAgent({ name: "helper", provider });
  const first = createSession({ agent, id: "first", store, logger: silentLogger });
  await execute(first, "Send 10 euros to Anne.").result();
  await execute(first, "Thanks.").result();
  forge(folder, "10 euros", "99 euros");
  const again = createSession({ agent, id: "first", store, logger: silentLogger });
  await expect(execute(again, "Once more.").result()).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  expect(JSON.stringify(provider.requests)).not.toContain("99 euros");
  expect(provider.requests).toHaveLength(2);
});
