import { expectSame } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { sampleBody as body, writeFacts } from "../samples/sample-conversation.ts";
import type { IndexUnderTest } from "./index-under-test.ts";

/** A session `root` with the children `c0`, `c1`, ..., of which the first has a child `below`; each changed a minute after the one before. */
async function withFamily(subject: IndexUnderTest, count = 3): Promise<IndexUnderTest> {
  const { log } = subject;
  await writeFacts(log, { session: "root" }, [body.opened(), body.input("apples")]);
  // An owner may claim a session before it is opened.
  await writeFacts(log, { session: "c1", minute: 1 }, [{ type: "owner.claimed", node: "n", leaseMs: 15_000 }]);
  for (let at = 0; at < count; at++)
    await writeFacts(log, { session: `c${at}`, minute: at + 2 }, [childOf("root", 1), body.input("apples")]);
  await writeFacts(log, { session: "below", minute: count + 3 }, [childOf("c0", 2), body.input("apples")]);
  return subject;
}

const childOf = (session: string, depth: number) => body.opened({ parent: { session, runId: "r1", callKey: "r1.1.0", depth } });

async function idsOf({ index }: Pick<IndexUnderTest, "index">, parent?: string): Promise<readonly string[]> {
  return (await index.list("local", parent === undefined ? {} : { parent })).map(({ id }) => id);
}

/** Children in lists. */
export const familyCases: readonly StoreCase<IndexUnderTest>[] = [
  {
    id: "children-apart",
    promise: "a list leaves children out, and the children of a session are listed with it alone; each names its parent",
    async run(make) {
      const subject = await withFamily(await make());
      expectSame(await idsOf(subject), ["root"], "the list");
      expectSame(await idsOf(subject, "root"), ["c2", "c1", "c0"], "the children of the root");
      expectSame(await idsOf(subject, "c0"), ["below"], "the children of a child");
      expectSame(await idsOf(subject, "below"), [], "the children of a session without any");
      expectSame((await subject.index.get("local", "below"))?.parent, "c0", "the parent in a summary");
      expectSame((await subject.index.list("local", { parent: "root" }))[0]?.parent, "root", "the parent in a list");
      expectSame("parent" in ((await subject.index.get("local", "root")) ?? {}), false, "a parent of the root");
    },
  },
  {
    id: "children-searched",
    promise: "a search finds no children",
    needs: ["search"],
    async run(make) {
      const { index } = await withFamily(await make());
      expectSame(
        (await index.search("local", "apples")).map(({ session }) => session.id),
        ["root"],
        "the hits",
      );
    },
  },
  {
    id: "children-paged",
    promise: "the children of a session are paged, keep their places when they change, and go when they are removed",
    async run(make) {
      const subject = await withFamily(await make(), 5);
      const { index, log } = subject;
      await writeFacts(log, { session: "c1", minute: 30 }, [body.titled("changed")]);
      await log.remove({ scope: "local", session: "c3" });
      const first = await index.list("local", { parent: "root", limit: 2 });
      const last = first.at(-1);
      const second = await index.list("local", { parent: "root", limit: 9, ...(last ? { before: last } : {}) });
      expectSame(
        [...first, ...second].map(({ id }) => id),
        ["c1", "c4", "c2", "c0"],
        "ids over the pages",
      );
      expectSame(await idsOf(subject), ["root"], "the list");
    },
  },
  {
    id: "children-rebuilt",
    promise: "the projection made anew has the same children, and counts them",
    async run(make) {
      const subject = await withFamily(await make());
      expectSame(await subject.index.rebuild("local"), 5, "the count");
      expectSame(
        [await idsOf(subject), await idsOf(subject, "root"), await idsOf(subject, "c0")],
        [["root"], ["c2", "c1", "c0"], ["below"]],
        "the lists",
      );
    },
  },
  {
    id: "children-reopened",
    promise: "the children of a session are listed after the store was closed and opened again",
    needs: ["reopen"],
    async run(make) {
      const { index, reopen } = await withFamily(await make());
      const again = { index: (await reopen?.()) ?? index };
      expectSame([await idsOf(again), await idsOf(again, "root")], [["root"], ["c2", "c1", "c0"]], "the lists");
    },
  },
  {
    id: "children-bounded",
    promise: "a page of a list costs the same however many children there are",
    needs: ["work"],
    async run(make) {
      const workOf = async (count: number): Promise<number> => {
        const subject = await withFamily(await make(), count);
        await subject.index.list("local", { limit: 1 });
        const before = (await subject.work?.()) ?? 0;
        await subject.index.list("local", { limit: 1 });
        return ((await subject.work?.()) ?? 0) - before;
      };
      const [few, many] = [await workOf(10), await workOf(40)];
      expectSame(many <= few, true, `a list beside 10 children costs ${few}, beside 40 children ${many}: that it costs no more`);
    },
  },
];
