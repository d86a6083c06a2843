import type { SessionIndex } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { sampleBody as body, writeFacts } from "../samples/sample-conversation.ts";
import { secondRef } from "../samples/sample-facts.ts";
import { type IndexUnderTest, searched } from "./index-under-test.ts";

/** Three sessions that speak of apples; nothing that the store keeps of the second can be read any more. */
async function ruined(make: () => Promise<IndexUnderTest>): Promise<IndexUnderTest> {
  const subject = await make();
  for (const session of ["first", secondRef.session, "third"])
    await writeFacts(subject.log, { session }, [body.opened(), body.input(`apples of ${session}`)]);
  expectThat(subject.ruin !== undefined, "The subject has no `ruin`: give it one, or name the lack `ruin`.");
  await subject.ruin(secondRef);
  return subject;
}

/** The ids without that of the ruined session, which an index may show or leave out. */
const others = (ids: readonly string[]): readonly string[] => ids.filter((id) => id !== secondRef.session).sort();

async function expectOthers(index: SessionIndex, when: string): Promise<void> {
  expectSame(others((await index.list("local")).map(({ id }) => id)), ["first", "third"], `the list ${when}`);
  const hits = await searched(index, "apples");
  if (hits) expectSame(others(hits.map(({ session }) => session.id)), ["first", "third"], `the hits ${when}`);
  expectSame((await index.get("local", "third"))?.id, "third", `another session ${when}`);
}

/** One session that cannot be read at all, among others. Capability `ruin`. */
export const ruinedIndexCases: readonly StoreCase<IndexUnderTest>[] = [
  {
    id: "ruin-list",
    promise: "the other sessions are listed and found as before when one session cannot be read",
    needs: ["ruin"],
    async run(make) {
      const { index } = await ruined(make);
      await expectOthers(index, "after the damage");
    },
  },
  {
    id: "ruin-rebuild",
    promise: "the projection is made anew of all sessions but the one that cannot be read",
    needs: ["ruin"],
    async run(make) {
      const { index } = await ruined(make);
      expectThat((await index.rebuild("local")) >= 2, "fewer than two sessions were projected");
      await expectOthers(index, "made anew");
    },
  },
  {
    id: "ruin-reopen",
    promise: "the other sessions are listed and found also after the store was closed and opened again",
    needs: ["ruin", "reopen"],
    async run(make) {
      const { index, reopen } = await ruined(make);
      await expectOthers((await reopen?.()) ?? index, "after a restart");
    },
  },
];
