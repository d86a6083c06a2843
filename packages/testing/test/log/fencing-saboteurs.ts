import type { SessionRef } from "@loopwright/core";
import type { SessionLog } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { appending } from "./spoiled-log.ts";

const isClosed = (real: SessionLog, ref: SessionRef): Promise<boolean> =>
  real.read(ref).then((facts) => facts.at(-1)?.type === "session.closed");

/** Defects of fencing and of the order of checks. */
export const fencingSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "lets old owners write",
    breaks: [
      "another-claims",
      "fenced",
      "fenced-before-dup",
      "fenced-before-closed",
      "fenced-before-conflict",
      "due-fenced",
      "fenced-keeps-lease",
      "never-given",
    ],
    make: appending(async (real, ref, { epoch, ...request }) =>
      real.append(ref, epoch === undefined ? request : { ...request, epoch: (await real.head(ref)).epoch }),
    ),
  },
  {
    defect: "fences smaller epochs only",
    breaks: ["due-fenced", "never-given"],
    make: appending(async (real, ref, request) => {
      const { epoch } = await real.head(ref);
      return real.append(ref, request.epoch !== undefined && request.epoch > epoch ? { ...request, epoch } : request);
    }),
  },
  {
    defect: "takes a missed command for another owner",
    breaks: ["owner-conflict"],
    make: appending(async (real, ref, request) => {
      const outcome = await real.append(ref, request);
      return outcome.type === "conflict" && request.epoch !== undefined ? { type: "fenced", currentEpoch: request.epoch } : outcome;
    }),
  },
  {
    defect: "gives the lease back before it looks at the epoch",
    breaks: ["fenced-keeps-lease"],
    make: appending(async (real, ref, request) => {
      const outcome = await real.append(ref, request);
      if (request.release && outcome.type === "fenced") await real.release(ref, outcome.currentEpoch);
      return outcome;
    }),
  },
  {
    defect: "looks at the epoch before, not with, the write",
    breaks: ["fence-race"],
    make: appending(async (real, ref, { epoch, ...request }) => {
      const { epoch: current, lastSeq } = await real.head(ref);
      const isOwner = epoch === current && lastSeq === request.expectedSeq && !request.release;
      return real.append(ref, isOwner || epoch === undefined ? request : { ...request, epoch });
    }),
  },
  {
    defect: "lets no owner write without a lease",
    breaks: ["owner-writes"],
    make: appending(async (real, ref, request) => {
      const { lease, epoch } = await real.head(ref);
      return request.epoch === epoch && !lease ? { type: "fenced", currentEpoch: epoch } : real.append(ref, request);
    }),
  },
  {
    defect: "lets only owners write",
    breaks: ["command-writes", "owner-conflict", "ruin-others"],
    make: appending(async (real, ref, request) => {
      const { epoch, lease } = await real.head(ref);
      return request.epoch === undefined && lease ? { type: "fenced", currentEpoch: epoch } : real.append(ref, request);
    }),
  },
  {
    defect: "looks for duplicates before old owners",
    breaks: ["fenced-before-dup"],
    make: appending(async (real, ref, { epoch, ...request }) => {
      const outcome = await real.append(ref, epoch === undefined ? request : { ...request, epoch });
      if (outcome.type !== "fenced") return outcome;
      const probe = await real.append(ref, { ...request, expectedSeq: -1 });
      return probe.type === "dup" ? probe : outcome;
    }),
  },
  {
    defect: "looks for closed sessions before old owners",
    breaks: ["fenced-before-closed"],
    make: appending(async (real, ref, request) => {
      const outcome = await real.append(ref, request);
      return outcome.type === "fenced" && (await isClosed(real, ref)) ? { type: "closed" } : outcome;
    }),
  },
  {
    defect: "looks for conflicts before old owners",
    breaks: ["fenced-before-conflict", "fenced-before-dup"],
    make: appending(async (real, ref, request) => {
      const outcome = await real.append(ref, request);
      const { lastSeq } = await real.head(ref);
      return outcome.type === "fenced" && lastSeq !== request.expectedSeq ? { type: "conflict", actualSeq: lastSeq } : outcome;
    }),
  },
  {
    defect: "looks for closed sessions before duplicates",
    breaks: ["another-closes", "dup-before-closed"],
    make: appending(async (real, ref, request) => {
      const wasClosed = await isClosed(real, ref);
      const outcome = await real.append(ref, request);
      return outcome.type === "dup" && wasClosed ? { type: "closed" } : outcome;
    }),
  },
  {
    defect: "writes to closed sessions",
    breaks: ["closed", "closed-after-reopen"],
    make: appending(async (real, ref, request) => {
      const outcome = await real.append(ref, request);
      const { lastSeq } = await real.head(ref);
      return outcome.type === "closed" && lastSeq > 0 && request.expectedSeq === lastSeq ? { type: "ok", lastSeq: lastSeq + 1 } : outcome;
    }),
  },
  {
    defect: "looks for conflicts before closed sessions",
    breaks: ["another-closes", "closed-before-conflict"],
    make: appending(async (real, ref, request) => {
      const outcome = await real.append(ref, request);
      const { lastSeq } = await real.head(ref);
      return outcome.type === "closed" && lastSeq > 0 && request.expectedSeq !== lastSeq
        ? { type: "conflict", actualSeq: lastSeq }
        : outcome;
    }),
  },
];
