import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionStore } from "@loopwright/core/ports";
import { runKit, sessionIndexKit, sessionLogKit } from "@loopwright/testing";
import { afterEach, describe, expect, it } from "vitest";
import { blobStore, fileBlobs } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { ruinings, whyNot } from "./ruinings.ts";

const root = freshFolder();
let count = 0;
const opened: SessionStore[] = [];

function openIn(folder: string): SessionStore {
  const store = blobStore({ blobs: fileBlobs({ folder }) });
  opened.push(store);
  return store;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  // What cannot be read could not be removed.
  for (const name of existsSync(root) ? readdirSync(root, { encoding: "utf8" }) : []) readable(join(root, name));
});

function readable(path: string): void {
  chmodSync(path, 0o700);
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) readable(join(path, name));
}

const needsRuin = <Case extends { readonly needs?: readonly string[] }>(kit: readonly Case[]): readonly Case[] =>
  kit.filter(({ needs }) => needs?.includes("ruin"));

for (const [way, ruin] of Object.entries(ruinings)) {
  const reason = whyNot(way);
  const lacks = reason === undefined ? [] : [{ capability: "ruin", reason }];
  const make = async () => {
    const folder = join(root, String(count++));
    const store = openIn(folder);
    const reopen = async (): Promise<SessionStore> => {
      await store.close();
      return openIn(folder);
    };
    return { store, reopen, ruin: async (ref: Parameters<typeof ruin>[1]) => ruin(folder, ref) };
  };
  describe(`a session with ${way} is the only one that suffers`, () => {
    runKit(it, needsRuin(sessionLogKit), {
      lacks,
      make: async () => {
        const { store, reopen, ruin } = await make();
        return { log: store.log, ruin, reopen: async () => (await reopen()).log };
      },
    });
    runKit(it, needsRuin(sessionIndexKit), {
      lacks,
      make: async () => {
        const { store, reopen, ruin } = await make();
        return { log: store.log, index: store.index, ruin, reopen: async () => (await reopen()).index };
      },
    });
  });
}

it("files that other programs leave among the sessions, the summaries and the dates hide no session", async () => {
  const folder = join(root, String(count++));
  const { log, index } = openIn(folder);
  const fact = { type: "session.opened", agent: "helper", title: "Apples", at: 1, v: 1 } as const;
  await log.append({ scope: "local", session: "first" }, { batchId: "b", expectedSeq: 0, facts: [fact], due: 1 });
  for (const place of ["sessions/local/.DS_Store", "summaries/local/.DS_Store", "due/0000000000000001.A.B.1"])
    writeFileSync(join(folder, place), "");
  expect((await index.list("local")).map(({ id }) => id)).toEqual(["first"]);
  expect(await index.rebuild("local")).toBe(1);
  expect((await log.due({ now: 5 })).map(({ ref }) => ref.session)).toEqual(["first"]);
});

it("a store whose own folder may not be read is not taken for damaged sessions", { skip: process.getuid?.() === 0 }, async () => {
  const folder = join(root, String(count++));
  const { log } = openIn(folder);
  const ref = { scope: "local", session: "first" };
  await log.append(ref, { batchId: "b", expectedSeq: 0, facts: [{ type: "session.closed", at: 1, v: 1 }] });
  chmodSync(join(folder, "sessions"), 0o000);
  await expect(log.read(ref)).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
});
