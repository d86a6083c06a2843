import { expectSame, expectThat } from "../kit/kit.ts";
import type { Make, StoreCase } from "../kit/store-case.ts";
import { dated, dueOf } from "./dated-session.ts";
import type { LogUnderTest } from "./log-under-test.ts";

/** What a sweep costs among so many sessions that a lease holds. */
async function sweepAmong(make: Make<LogUnderTest>, heldCount: number): Promise<number> {
  const { log, work } = await make();
  for (let at = 0; at < heldCount; at++) {
    const ref = { scope: "local", session: `held${at}` };
    await dated(log, ref, 1);
    await log.claim(ref, { node: "n", leaseMs: 60_000 });
  }
  await dated(log, { scope: "local", session: "free" }, 2);
  await dueOf(log);
  const before = (await work?.()) ?? 0;
  expectSame(await dueOf(log), ["local/free 2"], "the due sessions");
  return ((await work?.()) ?? 0) - before;
}

/** What a log does for an answer. */
export const logWorkCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "due-held-work",
    promise: "a list of due sessions costs the same however many sessions a lease holds",
    needs: ["work"],
    async run(make) {
      const [few, many] = [await sweepAmong(make, 5), await sweepAmong(make, 40)];
      expectThat(few > 0, "no work was counted");
      expectThat(many <= few, `among 5 held sessions it cost ${few}, among 40 ${many}`);
    },
  },
];
