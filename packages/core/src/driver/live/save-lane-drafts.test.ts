import { expect, it } from "vitest";
import { memoryStore } from "../../memory/index.ts";
import { manualClock } from "../../memory/manual-clock.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import { createDrafts } from "./save-lane-drafts.ts";

const ref = { scope: "local", session: "s1" };

it("a draft that was on its way when its lanes were closed does not stay", async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const { put } = store.snapshots;
  let arrive = (): void => {};
  let settled: Promise<void> | undefined;
  store.snapshots.put = (...args) => {
    settled = new Promise<void>((resolve) => {
      arrive = resolve;
    }).then(() => put(...args));
    return settled;
  };
  const drafts = createDrafts(
    { store, ref, clock },
    { snapshots: () => [{ type: "message_snapshot", lane: 3, n: 1, content: [{ type: "text", text: "A secret." }] }] },
  );
  drafts.keep(true);
  clock.advance(driverLimits.draftMs);
  expect(settled).toBeDefined();
  drafts.keep(false);
  arrive();
  await settled;
  await new Promise((resolve) => setImmediate(resolve));
  expect(await store.snapshots.get(ref, "lane")).toBeUndefined();
});
