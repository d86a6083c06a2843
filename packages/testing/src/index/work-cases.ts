import { expectSame, expectThat } from "../kit/kit.ts";
import type { Make, StoreCase } from "../kit/store-case.ts";
import { sampleBody as body, writeFacts } from "../samples/sample-conversation.ts";
import { sampleAt } from "../samples/sample-facts.ts";
import type { IndexUnderTest } from "./index-under-test.ts";

/** Twice and six times what a search looks at. */
const sizes = [40, 120] as const;
const pageLength = 5;

/** A store with sessions `s0`, `s1`, ... of which each contains "apples", changed a minute after the one before. */
async function withSessions(make: Make<IndexUnderTest>, count: number): Promise<IndexUnderTest> {
  const subject = await make();
  for (let at = 0; at < count; at++)
    await writeFacts(subject.log, { session: `s${at}`, minute: at }, [body.opened(), body.input("apples")]);
  return subject;
}

/** What the store does for the second of two equal questions: the first one may fold what was written since. */
async function workOf(subject: IndexUnderTest, ask: (index: IndexUnderTest["index"]) => Promise<readonly unknown[]>): Promise<number> {
  await ask(subject.index);
  const before = (await subject.work?.()) ?? 0;
  expectSame((await ask(subject.index)).length, pageLength, "what was found");
  return ((await subject.work?.()) ?? 0) - before;
}

async function expectSameWork(make: Make<IndexUnderTest>, ask: (index: IndexUnderTest["index"]) => Promise<readonly unknown[]>) {
  const [few = 0, many = 0] = [
    await workOf(await withSessions(make, sizes[0]), ask),
    await workOf(await withSessions(make, sizes[1]), ask),
  ];
  expectThat(few > 0, "no work was counted");
  expectThat(many <= few, `${sizes[0]} sessions cost ${few}, ${sizes[1]} sessions ${many}`);
}

/** The work of an index for an answer, and that it ends with the request. */
export const indexWorkCases: readonly StoreCase<IndexUnderTest>[] = [
  {
    id: "list-bounded",
    promise: "a page of a list costs the same however many sessions there are",
    needs: ["work"],
    async run(make) {
      await expectSameWork(make, (index) => index.list("local", { limit: pageLength }));
      const before = { updatedAt: sampleAt + 20 * 60_000, id: "s20" };
      await expectSameWork(make, (index) => index.list("local", { limit: pageLength, before }));
    },
  },
  {
    id: "search-bounded",
    promise: "a search costs the same however many sessions there are",
    needs: ["work", "search"],
    run: (make) => expectSameWork(make, (index) => index.search("local", "apples", { limit: pageLength })),
  },
  {
    id: "list-aborted",
    promise: "a list that was given up rejects with the reason",
    run: (make) => expectGivenUp(make, (index, signal) => index.list("local", { signal })),
  },
  {
    id: "search-aborted",
    promise: "a search that was given up rejects with the reason",
    needs: ["search"],
    run: (make) => expectGivenUp(make, (index, signal) => index.search("local", "apples", { signal })),
  },
];

async function expectGivenUp(
  make: Make<IndexUnderTest>,
  ask: (index: IndexUnderTest["index"], signal: AbortSignal) => Promise<readonly unknown[]>,
): Promise<void> {
  const { index } = await withSessions(make, 3);
  const reason = new Error("given up");
  const outcome = await ask(index, AbortSignal.abort(reason)).then(
    (found) => `${found.length} were found`,
    (error: unknown) => error,
  );
  expectThat(outcome === reason, `the outcome was ${String(outcome)}`);
  expectSame((await ask(index, new AbortController().signal)).length, 3, "what is found with a signal that is not aborted");
}
