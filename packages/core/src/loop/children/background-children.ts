/*
 * Owns: children that outlive the call that started them: from their link to the report of their end, which is an input of the session.
 * Does not own: how such a child runs and which process reports its end (driver/children).
 */
import { present } from "../../message/drop-undefined.ts";
import { addSpent, tokensOf } from "../../message/usage.ts";
import { at } from "../append-list.ts";
import type { Effect } from "../effect.ts";
import type { FactOf } from "../fact.ts";
import type { Spending } from "../facts/spending.ts";
import { type BackgroundChild, type EndedRun, endOf, type QueuedInput, type Run, type State } from "../state.ts";

/** Bounds of one session. */
export const backgroundLimits = {
  /** Children in the background whose end was not reported yet. */
  children: 32,
  /** Runs in a row that reports have started. A run beyond it starts no further child in the background. */
  rounds: 8,
} as const;

/** The child in the background whose end is not recorded. */
export const backgroundChild = ({ background = [] }: State, session: string): BackgroundChild | undefined =>
  background.find((child) => child.session === session);

export function foldBackgroundLinked(state: State, { background, ...fact }: FactOf<"child.linked">): State {
  const { run, parent } = state;
  if (!run || !background || fact.key === undefined) return state;
  const { runId, callKey, session, agent, key, budget } = fact;
  const { access, labels, round = 0, limits } = run;
  const child: BackgroundChild = {
    ...{ runId, session, agent, key, round: round + 1, input: background.input },
    depthMax: Math.min(limits.depthMax, parent?.depthMax ?? limits.depthMax),
    ...present({ callKey, budget, access, labels }),
  };
  return { ...state, background: [...(state.background ?? []), child] };
}

/** The child has its input. */
export function foldBackgroundBegun(state: State, { session }: { readonly session: string }): State {
  const begun = ({ input: _, ...child }: BackgroundChild): BackgroundChild => child;
  return { ...state, background: (state.background ?? []).map((child) => (child.session === session ? begun(child) : child)) };
}

/**
 * What the child spent counts in the run that reads its report, which the fact names. It was promised from the budget of the run that started it, so it
 * does not use up that of another one.
 */
export function foldBackgroundEnded(state: State, fact: FactOf<"child.finished">): State {
  const ended = backgroundChild(state, fact.session);
  if (!ended) return state;
  const { background: before = [], ...rest } = state;
  const left = before.filter((child) => child !== ended);
  const next: State = left.length > 0 ? { ...rest, background: left } : rest;
  const { runId } = fact;
  if (next.run?.runId === runId) return { ...next, run: ended.runId === runId ? closedIn(next.run, fact) : prepaidBy(next.run, fact) };
  const run = next.run && next.run.runId === ended.runId ? closedIn(next.run, { ...fact, toolCallCount: 0 }) : next.run;
  const spent = spentOf(fact);
  const inputs = next.inputs.map((input): QueuedInput => (input.runId === runId ? { ...input, spent, prepaid: spent } : input));
  return { ...next, inputs, ...(run ? { run } : {}) };
}

const spentOf = ({ usage, cost }: Pick<Spending, "usage" | "cost">): Pick<Spending, "usage" | "cost"> => ({
  ...(usage ? { usage } : {}),
  ...(cost ? { cost } : {}),
});

const closedIn = (run: Run, { session, toolCallCount = 0 }: FactOf<"child.finished">): Run => ({
  ...run,
  toolCallCount: run.toolCallCount + toolCallCount,
  children: (run.children ?? []).map((child) => (child.session === session ? { ...child, isDone: true as const } : child)),
});

const prepaidBy = (run: Run, fact: FactOf<"child.finished">): Run => ({
  ...run,
  prepaid: { ...run.prepaid, ...addSpent(run.prepaid ?? {}, spentOf(fact)) },
});

/** What counts against the limits of the run: its own usage and what it has promised to children in the background, without what others had promised. */
export function chargedTo({ usage, cost, prepaid = {}, children = [] }: Run): { readonly tokens: number; readonly costUsd: number } {
  const open = children.filter(({ background, isDone }) => background && !isDone);
  const promised = (of: "tokensMax" | "costUsdMax"): number => open.reduce((sum, { budget }) => sum + (budget?.[of] ?? 0), 0);
  return {
    tokens: tokensOf(usage) - tokensOf(prepaid.usage) + promised("tokensMax"),
    costUsd: (cost?.totalUsd ?? 0) - (prepaid.cost?.totalUsd ?? 0) + promised("costUsdMax"),
  };
}

/** The children in the background that do not have their input yet. */
export const startsOwed = ({ background = [] }: State): readonly Effect[] =>
  background.flatMap((child): readonly Effect[] =>
    child.input ? [{ type: "start-child", id: `${child.session}/start`, runId: child.runId, child }] : [],
  );

const reportPrefix = "report-";

/** The idempotency key of the report of a child. */
export const reportKey = (session: string): string => `${reportPrefix}${session}`;

/**
 * True once a child has ended for its parent: the run of its input, all that works in its background, the runs that read the reports of it, and those of
 * inputs that people have sent to it meanwhile. What it spends until then is a part of its share; it takes no input after that.
 */
export function hasEnded({ run, inputs, background, ended }: State, own: string | undefined): boolean {
  return endOf({ ended }, own) !== undefined && !background && !run && inputs.length === 0;
}

/** True if the session is a child that has ended: the bill of its parent is closed. */
export function isEndedChild(state: State): boolean {
  const own = state.parent && at(state.known, 0)?.runId;
  return typeof own === "string" && hasEnded(state, own);
}

/** The runs of a child that has ended: that of its input, and those that have read reports, oldest first. */
export function runsOfChild({ known, ended }: State, own: string): readonly EndedRun[] {
  const runs = [endOf({ ended }, own)];
  for (let place = 0; place < known.length; place++) {
    const { key, inputId, runId } = at(known, place) ?? {};
    // A report that came too late to join a run has one under its own id.
    if (key?.startsWith(reportPrefix)) runs.push(endOf({ ended }, inputId) ?? endOf({ ended }, runId));
  }
  return runs.filter((run) => run !== undefined);
}

/** True if the session is a child in the background that has ended: its parent may not know that. */
export const owesReport = (state: State): boolean => state.parent?.background === true && isEndedChild(state);

/** The session above that waits for this one, and that may rest meanwhile. */
export const waitingAbove = ({ parent }: State): string | undefined => (parent?.background ? undefined : parent?.session);
