import { present } from "../../message/drop-undefined.ts";
import { foldScheduleSet, hasSchedule, withoutSchedule } from "../due-schedules.ts";
import { foldClosed, foldCompaction, foldHead, foldHold, foldOpened, placeOf } from "../fold-inputs.ts";
import { endsSummary, foldSummaryStarted, startsSummary, withoutSummary } from "../fold-summary-calls.ts";
import { foldClaim } from "../fold-turns.ts";
import { withoutRemembered } from "../remembered-decisions.ts";
import { always, type FactKind } from "./fact-kind.ts";

export const sessionOpened: FactKind<"session.opened"> = { fits: ({ status }) => status === "new", fold: foldOpened };

export const sessionChanged: FactKind<"session.changed"> = {
  fits: always,
  fold: (state, { title, metadata, retention, forget, sharing }) => ({
    ...(forget ? withoutRemembered(state, forget) : state),
    ...present({ title, metadata, retention, sharing }),
  }),
  publish: (_, { title, metadata }) => [{ type: "session_changed", ...present({ title, metadata }) }],
};

export const sessionClosed: FactKind<"session.closed"> = { fits: always, fold: foldClosed, publish: () => [{ type: "session_closed" }] };

export const headMoved: FactKind<"head.moved"> = {
  fits: (before, { to }) => placeOf(before, to) !== undefined,
  fold: foldHead,
  publish: (_, { to }) => [{ type: "head_moved", to }],
};

export const ownerClaimed: FactKind<"owner.claimed"> = {
  fits: (before, { epoch = 0 }) => epoch > before.epoch,
  fold: foldClaim,
};

export const contextCompacted: FactKind<"context.compacted"> = {
  fits: always,
  fold: foldCompaction,
  publish: (_, { from, to, summary, pinned, tokensBefore, tokensAfter, model, usage, cost }) => [
    { type: "context_compacted", from, to, summary, ...present({ pinned, tokensBefore, tokensAfter, model, usage, cost }) },
  ],
};

export const summaryStarted: FactKind<"summary.started"> = { fits: startsSummary, fold: foldSummaryStarted };

export const summaryFailed: FactKind<"summary.failed"> = {
  fits: endsSummary,
  fold: withoutSummary,
  publish: (_, { provider, model, usage, cost }) => (usage ? [{ type: "expense", provider, model, usage, ...present({ cost }) }] : []),
};

export const scheduleSet: FactKind<"schedule.set"> = { fits: always, fold: foldScheduleSet };

export const scheduleCleared: FactKind<"schedule.cleared"> = {
  fits: (before, { schedule }) => hasSchedule(before, schedule),
  fold: (state, { schedule }) => withoutSchedule(state, schedule),
};

export const holdChanged: FactKind<"hold.changed"> = {
  fits: (before, { held }) => held || before.hold !== undefined,
  fold: foldHold,
};

/** Kept for the package that recorded it; the runtime does not read it. */
export const noteRecorded: FactKind<"note.recorded"> = { fits: always, fold: (state) => state };
