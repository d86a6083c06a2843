import { expect, it } from "vitest";
import { turnScripts, twiceCrashed } from "../src/crash/turn-script.ts";
import { replayCrash, runCrashPoints } from "../src/index.ts";

/** Every so many places of a conversation has a crash; every third in `npm run long-tests`. */
const every = Number(process.env["LOOPWRIGHT_CRASH_POINTS"] ?? 41);

it("there are forty-four conversations, and those that are crashed twice are among them", () => {
  const names = turnScripts.map(({ name }) => name);
  expect(new Set(names).size).toBe(44);
  expect(names).toEqual(expect.arrayContaining([...twiceCrashed]));
  expect(twiceCrashed).toHaveLength(10);
});

it("a crash, a lost request, a pause and a hand-over at every place of some conversations break no promise and follow the recovery table", async () => {
  const report = await runCrashPoints({ scripts: ["once"] });
  const approval = await runCrashPoints({ scripts: ["approval allowed"], kinds: ["after", "handed-over"] });
  expect([...report.failures, ...approval.failures]).toEqual([]);
  expect([report.isComplete, approval.isComplete]).toEqual([true, true]);
  expect(report.runs).toBeGreaterThan(report.points * 3);
  expect(Object.keys({ ...report.rows, ...approval.rows })).toEqual(
    expect.arrayContaining(["1-2", "3-5", "7-9", "12-13,16", "19-20", "21", "27"]),
  );
});

it("a second crash at every eighth place of the recovery breaks no promise either", async () => {
  const report = await runCrashPoints({ scripts: ["once"], settings: ["together"], depth: 2, every: 8 });
  expect(report.failures).toEqual([]);
  expect(report.secondRuns).toBeGreaterThan(15);
});

it(`every other conversation survives a crash at one place in ${every}`, async () => {
  const report = await runCrashPoints({ kinds: ["before", "after"], every });
  expect(report.failures).toEqual([]);
  expect(report.scripts).toBe(44);
});

it("one crash can be done again, and an unknown conversation is refused", async () => {
  expect(await replayCrash({ script: "once", setting: "apart", fuses: [{ node: "n2.1", place: 9, fate: { dies: "after" } }] })).toEqual([]);
  await expect(runCrashPoints({ scripts: ["nothing of the kind"] })).rejects.toThrow(RangeError);
});
