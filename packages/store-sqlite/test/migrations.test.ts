import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { type SqliteStore, sqliteStore } from "../src/index.ts";
import { notes, refOf } from "./engine-scene.ts";
import { freshFolder } from "./fresh-folder.ts";
import { obeyingModes, startStoreProcess } from "./store-process.ts";

const folder = freshFolder();
let count = 0;

/** A copy of a file that the build with this version of the tables has written. */
function oldFile(version = 1): string {
  const path = join(folder, `${count++}.db`);
  writeFileSync(path, gunzipSync(readFileSync(new URL(`fixtures/version-${version}.db.gz`, import.meta.url))));
  return path;
}

function open(path: string): SqliteStore {
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  return store;
}

it("a file of the first version gets dates: 0 for every session that may owe something, none for those at rest", async () => {
  const { log } = open(oldFile());
  const sessions = (await log.due({ now: Date.now() })).map(({ ref, due }) => [ref.session, due]);
  expect(sessions).toEqual(["accepted", "calling", "damaged", "queued", "renamed-in-run", "waiting"].map((id) => [id, 0]));
});

it("a file of the first version keeps its facts, and dates can be set in it", async () => {
  const path = oldFile();
  const store = open(path);
  expect(await store.log.read({ scope: "local", session: "rested" })).toHaveLength(13);
  expect(await store.log.due({ now: Date.now(), limit: 1 })).toHaveLength(1);
  for (const { ref } of await store.log.due({ now: Date.now() }))
    await store.log.setDue(ref, { expectedSeq: (await store.log.head(ref)).lastSeq, due: null });
  expect(await store.log.due({ now: Date.now() })).toEqual([]);
  await store.close();
  expect(await open(path).log.due({ now: Date.now() })).toEqual([]);
  expect(await open(path).check()).toMatchObject({ version: 6, problems: [], damaged: ["local/damaged"] });
});

it("a file of the first or the second version takes no more facts into a session that is known as damaged, and works for others", async () => {
  for (const version of [1, 2]) {
    const path = oldFile(version);
    const store = open(path);
    const append = (of: SqliteStore, session: string, expectedSeq: number) =>
      of.log.append(refOf(session), notes(expectedSeq, "news")).catch((error) => ({ type: error.code }));
    const { lastSeq } = await store.log.head(refOf("damaged"));
    await expect(store.log.read(refOf("damaged"))).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
    await store.close();
    expect(await append(open(path), "damaged", lastSeq)).toMatchObject({ type: "SESSION_CORRUPT" });
    expect(await append(open(path), "rested", 13)).toMatchObject({ type: "ok" });
    expect(await open(path).check()).toMatchObject({ version: 6, problems: [], damaged: ["local/damaged"] });
  }
});

it("a file of the second version keeps its facts and its dates", async () => {
  const store = open(oldFile(2));
  expect(await store.log.read(refOf("second-version"))).toHaveLength(1);
  const dated = (await store.log.due({ now: Date.now() })).map(({ ref }) => ref.session);
  expect(dated).toEqual(["accepted", "calling", "damaged", "queued", "renamed-in-run", "waiting"]);
});

it("a file of the third version keeps its blobs, which belong to the scope, and takes those of sessions", async () => {
  const { blobs, log } = open(oldFile(3));
  expect(new TextDecoder().decode((await blobs.get("local", "sha256-00", { session: "third-version" }))?.bytes)).toBe("of the scope");
  expect(await blobs.own("local", "sha256-00", "third-version")).toBe(true);
  await log.remove(refOf("third-version"));
  expect(await blobs.list("local")).toEqual([]);
});

it("a file of the first version that cannot be written is read as it is", async ({ skip }) => {
  const restricted = obeyingModes();
  if (typeof restricted === "string") return skip(restricted);
  const place = join(folder, "read-only");
  mkdirSync(place);
  const path = join(place, "old.db");
  writeFileSync(path, gunzipSync(readFileSync(new URL("fixtures/version-1.db.gz", import.meta.url))));
  for (const [each, mode] of [
    [folder, 0o755],
    [path, 0o444],
    [place, 0o555],
  ] as const)
    chmodSync(each, mode);
  onTestFinished(() => chmodSync(place, 0o755));
  const looker = startStoreProcess("look", path, "rested", { restricted });
  expect(await looker.next()).toMatchObject({ factCount: 13, blobs: [] });
  expect(await looker.next()).toMatchObject({ code: "STORE_READ_ONLY" });
});
