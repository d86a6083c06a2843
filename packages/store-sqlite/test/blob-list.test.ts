import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { listSql } from "../src/blob-operations.ts";
import { sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();

it("a list of keys reads no more of either table than has the prefix: a file named in a message is looked for in this way", async () => {
  const path = join(folder, "plan.db");
  const store = sqliteStore(path);
  await store.blobs.put("local", "a", { bytes: Uint8Array.of(1) });
  await store.close();
  const database = new DatabaseSync(path, { readOnly: true });
  onTestFinished(() => database.close());
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${listSql}`).all("local", "upload-0", null, 1);
  const searches = plan.map(({ detail }) => String(detail)).filter((detail) => detail.includes("blobs"));
  expect(searches).toEqual([
    expect.stringMatching(/^SEARCH blobs USING COVERING INDEX .* \(scope=\? AND key>\? AND key<\?\)$/),
    expect.stringMatching(/^SEARCH owned_blobs USING COVERING INDEX .* \(scope=\? AND key>\? AND key<\?\)$/),
  ]);
});

it("a list of keys has all that begin with the prefix, whatever follows it, and none beside", async () => {
  const store = sqliteStore(join(folder, "ends.db"));
  onTestFinished(() => store.close());
  const bytes = Uint8Array.of(1);
  const keys = ["", "a", "ab", "ab\u{10ffff}", "ab\u{10ffff}z", "abc", "ac", "b"];
  for (const [n, key] of keys.entries()) await store.blobs.put("local", key, { bytes, ...(n % 2 ? { session: "one" } : {}) });
  expect(await store.blobs.list("local")).toEqual(["", "a", "ab", "abc", "ab\u{10ffff}", "ab\u{10ffff}z", "ac", "b"]);
  expect(await store.blobs.list("local", { prefix: "ab" })).toEqual(["ab", "abc", "ab\u{10ffff}", "ab\u{10ffff}z"]);
  expect(await store.blobs.list("local", { prefix: "ab", after: "abc" })).toEqual(["ab\u{10ffff}", "ab\u{10ffff}z"]);
  expect(await store.blobs.list("local", { prefix: "ab", after: "", limit: 2 })).toEqual(["ab", "abc"]);
  expect(await store.blobs.list("local", { prefix: "ab", after: "b" })).toEqual([]);
});
