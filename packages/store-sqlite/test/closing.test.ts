import { join } from "node:path";
import { isAgentError } from "@loopwright/core";
import { expect, it } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();
const ref = { scope: "local", session: "s" };
const opened = { batchId: "b", expectedSeq: 0, facts: [{ type: "session.opened", agent: "a", at: 1, v: 1 }] } as const;

/** What became of it: "done" or the code of its error. */
const fateOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => "done",
    (error: unknown) => (isAgentError(error) ? error.code : error),
  );

it("what is asked of a store while it closes is never answered from, or to, the store that is opened next", async () => {
  let before = sqliteStore(join(folder, "0.db"));
  for (let round = 1; round <= 10; round++) {
    await before.log.append(ref, opened);
    const { log, blobs } = before;
    const fates = [log.head(ref), blobs.list("local"), log.read(ref)].map(fateOf);
    const closing = before.close();
    const late: Promise<unknown>[] = [];
    const asking = (async () => {
      for (let turn = 0; turn < round; turn++) {
        late.push(...[log.head(ref), blobs.list("local"), log.read(ref)].map(fateOf));
        await Promise.resolve();
      }
    })();
    await closing;
    const next = sqliteStore(join(folder, `${round}.db`));
    const answers = await Promise.all([next.log.read(ref), next.log.head(ref), next.blobs.list("local")]);
    expect([round, ...answers]).toEqual([round, [], { lastSeq: 0, epoch: 0 }, []]);
    await asking;
    expect(await Promise.all(fates)).toEqual(["done", "done", "done"]);
    expect(new Set(await Promise.all(late))).toEqual(new Set(["STORE_UNAVAILABLE"]));
    before = next;
  }
  await before.close();
});

it("a log of many pages that is being read, and a search, come to their ends before the store closes", async () => {
  const store = sqliteStore(join(folder, "pages.db"));
  const title = "word ".repeat(50_000);
  for (let batch = 0; batch < 3; batch++)
    await store.log.append(ref, {
      batchId: `b${batch}`,
      expectedSeq: batch * 4,
      facts: Array.from({ length: 4 }, () => ({ type: "session.changed" as const, title, at: 1, v: 1 })),
    });
  const [facts, found] = [store.log.read(ref), store.index.search("local", "word")];
  const closed = store.close();
  expect((await facts).length).toBe(12);
  await found;
  await closed;
});
