import type { SessionRef } from "@loopwright/core";
import { type DueSession, refKey } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { secondRef } from "../samples/sample-facts.ts";
import { dated, dueOf, later, withDate } from "./dated-session.ts";
import type { LogUnderTest } from "./log-under-test.ts";

const refOf = (session: string, scope = "local"): SessionRef => ({ scope, session });

/** Cases of the order and the pages of due sessions. */
export const dueListCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "due-apart",
    promise: "sessions of all scopes are due, each by its own date",
    async run(make) {
      const { log } = await withDate(make);
      await dated(log, refOf("first", "other"), 6);
      await dated(log, secondRef, null);
      expectSame(await dueOf(log), ["local/first 5", "other/first 6"], "the due sessions");
    },
  },
  {
    id: "due-order",
    promise: "due sessions are ordered by date, then by scope, then by session",
    async run(make) {
      const { log } = await make();
      const places = [
        ["b", "x", 2],
        ["a", "y", 2],
        ["b", "z", 1],
        ["a", "x", 2],
      ] as const;
      for (const [scope, session, afterMs] of places) await dated(log, refOf(session, scope), afterMs);
      expectSame(await dueOf(log), ["b/z 1", "a/x 2", "a/y 2", "b/x 2"], "the due sessions");
    },
  },
  {
    id: "due-limit",
    promise: "at most `limit` sessions are returned: the earliest ones",
    async run(make) {
      const { log } = await make();
      for (const [index, session] of ["c", "b", "a"].entries()) await dated(log, refOf(session), index);
      expectSame(await dueOf(log, { limit: 2 }), ["local/c 0", "local/b 1"], "the due sessions");
    },
  },
  {
    id: "due-default-limit",
    promise: "without a limit a hundred sessions are returned",
    async run(make) {
      const { log } = await make();
      await Promise.all(Array.from({ length: 103 }, (_, index) => dated(log, refOf(`s${index}`), 1)));
      expectSame((await dueOf(log)).length, 100, "how many are due");
    },
  },
  {
    id: "due-pages",
    promise: "over all pages each session is returned once, also if many have the same date",
    async run(make) {
      const { log } = await make();
      for (let index = 0; index < 9; index++) await dated(log, refOf(`s${index % 5}`, index < 5 ? "a" : "b"), index % 2);
      const seen: string[] = [];
      let after: DueSession | undefined;
      for (let page = 0; page < 9; page++) {
        const found = await log.due({ now: later, limit: 2, ...(after ? { after } : {}) });
        seen.push(...found.map(({ ref }) => refKey(ref)));
        after = found.at(-1);
        if (!after) break;
      }
      expectSame(seen.join(" "), "a/s0 a/s2 a/s4 b/s1 b/s3 a/s1 a/s3 b/s0 b/s2", "the pages");
    },
  },
  {
    id: "due-page-gone",
    promise: "the next page begins after the last session of the page before, also if that session is no longer due",
    async run(make) {
      const { log } = await make();
      for (const session of ["a", "b", "c"]) await dated(log, refOf(session), 1);
      const [after] = await log.due({ now: later, limit: 1 });
      expectThat(after !== undefined, "no session was due");
      await log.setDue(after.ref, { expectedSeq: 1, due: null });
      expectSame(await dueOf(log, { after }), ["local/b 1", "local/c 1"], "the next page");
    },
  },
];
