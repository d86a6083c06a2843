import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { sampleBody as body, writeFacts } from "../samples/sample-conversation.ts";
import { sampleAt } from "../samples/sample-facts.ts";
import { familyCases } from "./family-cases.ts";
import { type IndexUnderTest, searched } from "./index-under-test.ts";

const first = { session: "first" };

/** Sessions `s0`, `s1`, ... each changed a minute after the one before. */
async function withSessions(subject: IndexUnderTest, count: number): Promise<IndexUnderTest> {
  for (let at = 0; at < count; at++) await writeFacts(subject.log, { session: `s${at}`, minute: at }, [body.opened()]);
  return subject;
}

async function statusOf({ index }: IndexUnderTest): Promise<unknown> {
  return (await index.get("local", "first"))?.status;
}

const listCases: readonly StoreCase<IndexUnderTest>[] = [
  {
    id: "empty",
    promise: "an empty store lists nothing and knows no session",
    async run(make) {
      const { index } = await make();
      expectSame(await index.list("local"), [], "the list");
      expectSame(await index.get("local", "first"), undefined, "the session");
    },
  },
  {
    id: "newest-first",
    promise: "the session changed last comes first, at once after the change",
    async run(make) {
      const { index, log } = await withSessions(await make(), 3);
      expectSame(
        (await index.list("local")).map(({ id }) => id),
        ["s2", "s1", "s0"],
        "ids",
      );
      await writeFacts(log, { session: "s0", minute: 9 }, [body.titled("changed")]);
      expectSame(
        (await index.list("local")).map(({ id, title }) => title ?? id),
        ["changed", "s2", "s1"],
        "after a change",
      );
    },
  },
  {
    id: "pages",
    promise: "pages of any size go through all sessions once, also where several changed at the same moment",
    async run(make) {
      const { index, log } = await make();
      for (let at = 0; at < 7; at++) await writeFacts(log, { session: `s${at}`, minute: at < 4 ? 0 : 1 }, [body.opened()]);
      const all = (await index.list("local")).map(({ id }) => id);
      const paged: string[] = [];
      let page = await index.list("local", { limit: 2 });
      for (; page.length > 0 && paged.length <= 7; ) {
        paged.push(...page.map(({ id }) => id));
        expectThat(page.length <= 2, `a page of ${page.length}`);
        const before = page.at(-1);
        page = before ? await index.list("local", { limit: 2, before }) : [];
      }
      expectSame(paged, all, "ids over the pages");
      expectSame(new Set(all).size, 7, "sessions");
    },
  },
  {
    id: "only-with-facts",
    promise: "a session that was only claimed is not listed",
    async run(make) {
      const { index, log } = await make();
      await log.claim({ scope: "local", session: "first" }, { node: "n", leaseMs: 15_000 });
      expectSame(await index.list("local"), [], "the list");
      expectSame(await index.get("local", "first"), undefined, "the session");
    },
  },
  {
    id: "scopes-apart",
    promise: "a scope lists and finds its own sessions alone",
    async run(make) {
      const { index, log } = await make();
      await writeFacts(log, { ...first, scope: "other" }, [body.opened(), body.input("apples")]);
      expectSame(await index.list("local"), [], "the list");
      expectSame(await index.get("local", "first"), undefined, "the session");
      expectSame((await searched(index, "apples")) ?? [], [], "the search");
    },
  },
  {
    id: "removed",
    promise: "a removed session is neither listed nor found",
    async run(make) {
      const { index, log } = await make();
      await writeFacts(log, first, [body.opened({ title: "Fruit" }), body.input("apples"), body.answer("red apples"), body.input("more")]);
      await searched(index, "apples");
      await log.remove({ scope: "local", session: "first" });
      expectSame(await index.list("local"), [], "the list");
      expectSame(await index.get("local", "first"), undefined, "the session");
      expectSame((await searched(index, "apples")) ?? [], [], "the search");
    },
  },
];

const summaryCases: readonly StoreCase<IndexUnderTest>[] = [
  {
    id: "summary",
    promise: "a summary holds what the log records of the session: names, times, counts, sums, the last run",
    async run(make) {
      const { index, log } = await make();
      const spent = { usage: { input: 10, output: 2 }, cost: { totalUsd: 0.5 } };
      await writeFacts(log, first, [
        body.opened({ title: "Apples", participants: ["ann"], metadata: { colour: "red" } }),
        body.input("Which apples?"),
        body.runStarted,
        body.answer("Red ones.", spent),
      ]);
      await writeFacts(log, { ...first, minute: 4 }, [body.answer("All of them.", spent), body.runFinished, { type: "session.closed" }]);
      const wanted = {
        id: "first",
        agent: "helper",
        title: "Apples",
        status: "closed",
        lastRun: { status: "completed", reason: "stop" },
        createdAt: sampleAt,
        updatedAt: sampleAt + 6 * 60_000,
        lastSeq: 7,
        messageCount: 3,
        participants: ["ann"],
        usage: { input: 20, output: 4 },
        cost: { totalUsd: 1 },
        metadata: { colour: "red" },
      };
      expectSame(await index.get("local", "first"), wanted, "the summary");
      expectSame(await index.list("local"), [wanted], "the list");
    },
  },
  {
    id: "derived-title",
    promise: "without a title the first user message gives it: one line of at most 80 characters; a title given later wins",
    async run(make) {
      const { index, log } = await make();
      await writeFacts(log, first, [body.opened(), body.input(`  Tell me\n\tof ${"👍".repeat(90)}`), body.input("second")]);
      const title = (await index.get("local", "first"))?.title ?? "";
      expectThat(
        title.startsWith("Tell me of 👍") && [...title].length <= 80 && !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(title),
        `the title was ${title}`,
      );
      await writeFacts(log, first, [body.titled("Given")]);
      expectSame((await index.get("local", "first"))?.title, "Given", "the title given");
    },
  },
  {
    id: "status",
    promise: "a session runs from the start of a run to its end, and waits while only clients are asked",
    async run(make) {
      const subject = await make();
      const steps: readonly (readonly [unknown, readonly Parameters<typeof writeFacts>[2][number][]])[] = [
        ["idle", [body.opened(), body.input("go")]],
        ["running", [body.runStarted]],
        ["running", [body.modelStarted, body.answer("I ask."), body.toolStarted("r1.1.0"), body.clientRequested("r1.1.1", "r1.1.2")]],
        ["waiting", [body.toolFinished("r1.1.0", "done")]],
        ["waiting", [body.clientAnswered("r1.1.1")]],
        ["running", [body.clientAnswered("r1.1.2")]],
        ["idle", [body.runFinished]],
      ];
      for (const [at, [wanted, facts]] of steps.entries()) {
        await writeFacts(subject.log, first, facts);
        expectSame(await statusOf(subject), wanted, `the status after step ${at + 1}`);
      }
    },
  },
  {
    id: "waits-for",
    promise: "the summary of a waiting session names what it waits for, for clients, for people, or for both, and counts the approvals",
    async run(make) {
      const { index, log } = await make();
      const steps: readonly (readonly [readonly string[] | undefined, Parameters<typeof writeFacts>[2][number]])[] = [
        [["client_tools"], body.clientRequested("r1.1.1")],
        [["client_tools", "approvals"], body.approvalRequested("r1.1.0")],
        [["approvals"], body.clientAnswered("r1.1.1")],
        [undefined, body.approvalDecided("r1.1.0")],
      ];
      await writeFacts(log, first, [body.opened(), body.input("go"), body.runStarted, body.modelStarted, body.answer("I ask.")]);
      for (const [at, [wanted, fact]] of steps.entries()) {
        await writeFacts(log, first, [fact]);
        const summary = await index.get("local", "first");
        expectSame(summary?.waitsFor, wanted, `what it waits for after step ${at + 1}`);
        const pending = wanted?.includes("approvals") ? 1 : undefined;
        expectSame(summary?.pendingApprovals, pending, `the approvals that wait after step ${at + 1}`);
      }
    },
  },
  {
    id: "rebuild",
    promise: "the projection made anew gives the same, and how many sessions there are",
    async run(make) {
      const { index, log } = await make();
      for (const session of ["first", "second"]) await writeFacts(log, { session }, [body.opened(), body.input(`apples of ${session}`)]);
      const before = [await index.list("local"), await searched(index, "apples second")];
      expectSame(await index.rebuild("local"), 2, "the count");
      expectSame([await index.list("local"), await searched(index, "apples second")], before, "list and search");
    },
  },
  {
    id: "reopen",
    promise: "list and search give the same after the store was closed and opened again",
    needs: ["reopen"],
    async run(make) {
      const { index, log, reopen } = await make();
      await writeFacts(log, first, [body.opened(), body.input("apples")]);
      const before = [await index.list("local"), await searched(index, "apples")];
      const again = (await reopen?.()) ?? index;
      expectSame([await again.list("local"), await searched(again, "apples")], before, "list and search");
    },
  },
];

/** Listing and summaries. */
export const listAndSummaryCases: readonly StoreCase<IndexUnderTest>[] = [...listCases, ...summaryCases, ...familyCases];
