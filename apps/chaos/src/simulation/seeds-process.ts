/* Simulates seeds in a process of its own, so that every core has its share. */
import { setPriority } from "node:os";
import { describeFailure, runSeeds } from "@loopwright/simulator";
import type { SeedsShare } from "./seeds-share.ts";

/** Politeness to the processes of other experiments, which are measured. */
const niceness = 19;

const { from, count, limitMs, isPolite } = JSON.parse(process.argv[2] ?? "") as SeedsShare;
if (isPolite) setPriority(niceness);
let done = 0;
const report = await runSeeds({
  from,
  count,
  limitMs,
  onReport: () => void (++done % 500 === 0 && process.send?.({ type: "progress", done })),
});
process.send?.({ type: "done", report: { ...report, failures: report.failures.map(describeFailure) } }, () => process.exit(0));
