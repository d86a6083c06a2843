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
  /** Consecutive runs that reports have started. A run beyond this number starts no child in the background. */
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

/** Notes that the child has its input. */
export function foldBackgroundBegun(state: State, { session }: { readonly session: string }): State {
  const begun = ({ input: _, ...child }: BackgroundChild): BackgroundChild => child;
  return { ...state, background: (state.background ?? []).map((child) => (child.session === session ? begun(child) : child)) };
}

/**
 * What the child spent counts in the run that reads its report, which the fact names. The budget of the run that started the child has paid for it, so it
 * does not reduce the budget of another run.
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

/** What counts against the limits of the run: its usage, plus what it has reserved for children in the background, minus what earlier runs had reserved. */
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
 * True if a child has ended for its parent: the run of its input has ended, no child of its own is in the background, and no run for reports or for inputs of
 * people is open or waits. What it spends until then counts in its share; after that it takes no input.
 */
export function hasEnded({ run, inputs, background, ended }: State, own: string | undefined): boolean {
  return endOf({ ended }, own) !== undefined && !background && !run && inputs.length === 0;
}

/** True if the session is a child that has ended: its parent counts no more usage of it. */
export function isEndedChild(state: State): boolean {
  const own = state.parent && at(state.known, 0)?.runId;
  return typeof own === "string" && hasEnded(state, own);
}

/** The runs of a child that has ended: that of its input, and those that have read reports, oldest first. */
export function runsOfChild({ known, ended }: State, own: string): readonly EndedRun[] {
  const runs = [endOf({ ended }, own)];
  for (let place = 0; place < known.length; place++) {
    const { key, inputId, runId } = at(known, place) ?? {};
    // A report that came too late to join a run has its own, under the id of the input.
    if (key?.startsWith(reportPrefix)) runs.push(endOf({ ended }, inputId) ?? endOf({ ended }, runId));
  }
  return runs.filter((run) => run !== undefined);
}

/** True if the session is an ended child in the background: its parent may not have the report yet. */
export const owesReport = (state: State): boolean => state.parent?.background === true && isEndedChild(state);

/** The parent, if it waits for this session; it may rest meanwhile. */
export const waitingAbove = ({ parent }: State): string | undefined => (parent?.background ? undefined : parent?.session);
