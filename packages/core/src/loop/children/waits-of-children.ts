/*
 * Owns: what children wait for, as their parents' logs record it, and the answers that the children do not have yet.
 * Does not own: how a child is driven and how it gets an answer (driver/children).
 */
import type { PendingApproval, PendingToolCall, WaitingAgent } from "../event.ts";
import type { ChildCall, FactBody, FactOf, WaitingCall } from "../fact.ts";
import type { Call, KeyedChild, Run, State } from "../state.ts";
import { backgroundChild, foldBackgroundBegun } from "./background-children.ts";

type Answer = FactOf<"approval.decided"> | FactOf<"client.answered">;

/** A call of a child, or of a session below it, that waits for a person or a client. */
export interface CallBelow {
  readonly child: KeyedChild;
  readonly call: WaitingCall;
}

/** The children of the run that have not ended, and whose calls have not ended either. */
export const openChildren = ({ children = [], calls }: Run): readonly KeyedChild[] =>
  children.filter(
    ({ isDone, background, callKey }) =>
      !isDone && !background && (callKey === undefined || calls.some(({ part, state }) => part.callKey === callKey && state !== "done")),
  );

/** The calls below the open run that wait, by child in the order of their links. */
export const callsBelow = ({ run }: State): readonly CallBelow[] =>
  (run ? openChildren(run) : []).flatMap((child) => (child.waits ?? []).map((call) => ({ child, call })));

/** The calls that are awaiting approval. */
export const approvalsOf = (calls: readonly WaitingCall[]): readonly PendingApproval[] =>
  calls.flatMap(({ argsDigest, ...call }) => (argsDigest === undefined ? [] : [{ ...call, argsDigest }]));

/** The calls that wait for a client. */
export const clientCallsOf = (calls: readonly WaitingCall[]): readonly PendingToolCall[] =>
  calls.filter(({ argsDigest }) => argsDigest === undefined);

/** What a child waits for, as readers get it. */
export const waitingAgent = ({ callKey, session, agent, waits = [] }: KeyedChild): WaitingAgent => ({
  ...(callKey === undefined ? {} : { callKey }),
  ...{ session, agent, pendingApprovals: approvalsOf(waits), pendingToolCalls: clientCallsOf(waits) },
});

/** The child whose calls the fact lists: user code of the open run has started it, and it has not ended. */
export function reportsWaits({ run }: State, { runId, session }: FactOf<"child.waiting">): KeyedChild | undefined {
  return run?.runId === runId && !run.abort ? openChildren(run).find((child) => child.session === session) : undefined;
}

/** True if the fact records that a child in the background has its input. */
export const begins = (state: State, { session }: FactOf<"child.waiting">): boolean => backgroundChild(state, session)?.input !== undefined;

/** With `rests`, the call that waits for the child needs no process. Without it, a call that rested runs again. */
export function foldChildWaiting(state: State, fact: FactOf<"child.waiting">): State {
  if (begins(state, fact)) return foldBackgroundBegun(state, fact);
  const child = reportsWaits(state, fact);
  if (!child || !state.run) return state;
  const { waits: _, answers, ...plain } = child;
  const { waits, rests, session } = fact;
  const next: KeyedChild = { ...plain, ...(waits.length > 0 ? { waits } : {}), ...(answers && !rests ? { answers } : {}) };
  const run = withChild(state.run, child, next);
  if (child.callKey === undefined) return { ...state, run };
  return { ...state, run: rests ? suspended(run, child.callKey, { session, agent: child.agent }) : resumed(run, child) };
}

/** The child and the call that an answer at this session is for; `undefined`: no such call waits. */
export function answeredBelow(state: State, { runId, callKey, child }: Answer): CallBelow | undefined {
  if (!child || state.run?.runId !== runId || state.run.abort) return undefined;
  return callsBelow(state).find((below) => below.child.session === child.session && below.call.callKey === callKey);
}

/** Keeps the answer until the child has it. A call that rested runs again, to pass the answer to the child. */
export function foldAnswerBelow(state: State, fact: Answer): State {
  const below = answeredBelow(state, fact);
  if (!below || !state.run) return state;
  const { waits = [], ...child } = below.child;
  const left = waits.filter((call) => call !== below.call);
  const next: KeyedChild = { ...child, ...(left.length > 0 ? { waits: left } : {}), answers: [...(child.answers ?? []), fact] };
  return { ...state, run: resumed(withChild(state.run, below.child, next), next) };
}

/** Continues the call that rests for this child, because the child has work again: the tool of the call runs, and attaches to the child. */
export function resumedCall({ run }: State, session: string): readonly FactBody[] {
  const child = run && !run.abort ? openChildren(run).find((other) => other.session === session) : undefined;
  const call = run?.calls.find((other) => other.state === "awaiting_child" && other.child?.session === child?.session);
  if (!run || !child || !call) return [];
  return [{ type: "child.waiting", runId: run.runId, callKey: call.part.callKey, session, waits: child.waits ?? [] }];
}

const withChild = (run: Run, before: KeyedChild, child: KeyedChild): Run => ({
  ...run,
  children: (run.children ?? []).map((other) => (other === before ? child : other)),
});

function suspended(run: Run, callKey: string, child: NonNullable<Call["child"]>): Run {
  return changeCall(run, callKey, ({ deadline: _, ...call }) =>
    call.state === "running" ? { ...call, state: "awaiting_child", inDoubt: false, child, suspensions: (call.suspensions ?? 0) + 1 } : call,
  );
}

function resumed(run: Run, { callKey, session }: KeyedChild): Run {
  return changeCall(run, callKey, (call) => {
    if (call.state !== "awaiting_child" || call.child?.session !== session) return call;
    const { child: _, ...rest } = call;
    return { ...rest, state: "pending" };
  });
}

const changeCall = (run: Run, callKey: string | undefined, change: (call: Call) => Call): Run => ({
  ...run,
  calls: run.calls.map((call) => (call.part.callKey === callKey ? change(call) : call)),
});

/** The earliest deadline of the calls below a call that rests. At that time the child continues without an answer. */
export function deadlineBelow({ calls, children = [] }: Run, call: Call): number | undefined {
  if (call.state !== "awaiting_child" || !calls.includes(call)) return undefined;
  const { waits = [] } = children.find(({ session }) => session === call.child?.session) ?? {};
  const deadlines = waits.flatMap(({ deadline }) => deadline ?? []);
  return deadlines.length > 0 ? Math.min(...deadlines) : undefined;
}

/** The child as an answer names it. */
export const childCallOf = ({ session, callKey }: KeyedChild): ChildCall => ({ session, ...(callKey === undefined ? {} : { callKey }) });

/** True if the session above waits for the end of the open run, so that its calls are answered there. */
export const isRunOfParent = ({ parent, run }: State): boolean => parent !== undefined && !parent.background && run !== undefined;
