import { present } from "../message/drop-undefined.ts";
import type { MessageId, UserMessage } from "../message/message.ts";
import { soundMessage } from "../message/message-flaws.ts";
import { allSpent } from "../message/usage.ts";
import { append, findLastIndex, lastWithKey } from "./append-list.ts";
import { backgroundChild } from "./children/background-children.ts";
import { firedBy, foldFiring } from "./due-schedules.ts";
import type { FactOf } from "./fact.ts";
import { withoutSummary } from "./fold-summary-calls.ts";
import { type EndedRun, type Entry, endedRun, type KnownInput, type QueuedInput, type Run, type State } from "./state.ts";

/** Opens the log with its first fact, and fills the history with the given context. */
export function foldOpened(state: State, fact: FactOf<"session.opened">): State {
  if (state.status !== "new") return state;
  const { agent, title, metadata, participants, tools, prompt, parent, keyId, policy } = fact;
  const given = present({ title, metadata, participants, tools, prompt, parent, keyId, policy });
  let next: State = { ...state, status: "open", agent, createdAt: fact.at, ...given };
  fact.context?.forEach((before, i) => {
    const message = soundMessage(before);
    next = {
      ...next,
      history: append(next.history, { id: `${fact.seq}.${i}`, parent: next.head, message, at: fact.at }),
      head: next.history.length,
    };
  });
  return next;
}

/** Closes the session: the open run ends at once, waiting runs end before they begin, and no schedule fires any more. */
export function foldClosed(state: State, { erase }: Pick<FactOf<"session.closed">, "erase">): State {
  const { run, schedules: _, background: __, ...rest } = state;
  const how = { status: "aborted", reason: "session closed" } as const;
  const runs = [
    ...(run ? [endedRun(run, how)] : []),
    ...state.inputs.flatMap(({ runId, shares }): EndedRun[] => (shares ? [] : [{ runId, ...how }])),
  ];
  const [lastRun = state.lastRun] = runs;
  const ended = runs.reduce(append, state.ended);
  return {
    ...rest,
    ...(erase ? { erase } : {}),
    status: "closed",
    inputs: [],
    ended,
    head: run ? run.tip : state.head,
    ...(lastRun ? { lastRun } : {}),
  };
}

/** A steered input joins the open run, and a merged one the run of a waiting input. Every other input, and a steered one that came too late, waits for a run of its own. */
export function foldInput(state: State, fact: FactOf<"input.accepted">): State {
  if (!acceptsInput(state, fact)) return state;
  const joins = mayJoin(state, fact);
  const shares = sharesRun(state, fact);
  const { seq, inputId, parent, access, options, labels, trace, hookState, answer } = fact;
  const input: QueuedInput = {
    seq,
    inputId,
    runId: fact.mode === "steer" || (fact.mode === "merge" && !shares) ? fact.inputId : fact.runId,
    ...present({ shares, parent, access, options, labels, trace, hookState, answer }),
    ...(fact.mode === "interrupt" && fact.jumps !== false ? { jumps: true } : {}),
    ...(fact.message ? { message: soundMessage(fact.message) as UserMessage } : {}),
    // The usage of an input that came too late to steer was added to the run that it named.
    ...(fact.expenses && fact.mode !== "steer" ? { spent: allSpent(fact.expenses) } : {}),
    ...(fact.origin?.type === "schedule" ? { schedule: fact.origin.schedule } : {}),
    ...roundOf(state, fact),
  };
  const next: State = { ...foldFiring(state, fact), known: append(state.known, knownFrom(fact)) };
  return joins
    ? { ...next, run: { ...joins, steered: [...joins.steered, input] } }
    : { ...next, inputs: withInputs(state.inputs, [input]) };
}

/** The round of a background child whose report the input is. The report is recorded before the end of the child. */
function roundOf(state: State, { origin }: FactOf<"input.accepted">): Pick<QueuedInput, "round"> {
  const child = origin?.type === "session" ? backgroundChild(state, origin.session) : undefined;
  return child ? { round: child.round } : {};
}

/** The queue with more inputs: inputs with `interrupt` first, otherwise in the order of their acceptance. */
export function withInputs(
  waiting: readonly QueuedInput[],
  more: readonly QueuedInput[],
  where: "first" | "last" = "last",
): readonly QueuedInput[] {
  const all = where === "first" ? [...more, ...waiting] : [...waiting, ...more];
  return all.some(({ jumps }) => jumps) ? [...all.filter(({ jumps }) => jumps), ...all.filter(({ jumps }) => !jumps)] : all;
}

function knownFrom(fact: FactOf<"input.accepted">): KnownInput {
  const { idempotencyKey: key, keyedDigest, inputId, runId, seq, message, parent, givenDigest } = fact;
  return { inputId, runId, seq, ...present({ key, keyedDigest, message, parent, givenDigest }) };
}

function mayJoin(state: State, fact: FactOf<"input.accepted">): Run | undefined {
  const { run } = state;
  return fact.mode === "steer" && fact.message && fact.answer === undefined && run && run.runId === fact.runId && !run.abort && !run.failure
    ? run
    : undefined;
}

/** True if the input is merged into the run of another input that waits. */
function sharesRun({ inputs }: State, { mode, message, runId }: FactOf<"input.accepted">): true | undefined {
  return (mode === "merge" && message !== undefined && inputs.some((input) => input.runId === runId)) || undefined;
}

/** The keys of an accepted input. One function for each, because the indices are cached by function. */
export const idOfInput = (known: KnownInput): string => known.inputId;
export const seqOfInput = ({ seq }: KnownInput): string => String(seq);
export const keyOfInput = (known: KnownInput): string | undefined => known.key;
/** The key of a result. */
export const keyOfEntry = (entry: Entry): string | undefined => entry.key;

/** True if the input is new to an open log and, for a scheduled input, its schedule is still due at its date. */
export function acceptsInput(state: State, fact: FactOf<"input.accepted">): boolean {
  if (state.status !== "open" || lastWithKey(state.known, fact.inputId, idOfInput) !== undefined) return false;
  return fact.origin?.type !== "schedule" || firedBy(state, fact) !== undefined;
}

/** From this fact on, requests have the summary in place of that part of the path. */
export function foldCompaction(state: State, fact: FactOf<"context.compacted">): State {
  const { seq, from, to, summary, pinned } = fact;
  const compactions = [...state.compactions, { seq, from, to, summary, ...(pinned ? { pinned } : {}) }];
  return { ...withoutSummary(state, fact), compactions };
}

/** A hold is kept until it is lifted; a second one replaces the first. */
export function foldHold(state: State, { held, reason, by, at: when }: FactOf<"hold.changed">): State {
  const { hold: _, ...rest } = state;
  if (!held) return rest;
  return { ...rest, hold: { at: when, ...present({ reason, by }) } };
}

/** During an open run the move applies to the next input only. */
export function foldHead(state: State, fact: FactOf<"head.moved">): State {
  const to = placeOf(state, fact.to);
  if (to === undefined) return state;
  return state.run ? { ...state, run: { ...state.run, movedHead: to } } : { ...state, head: to };
}

/** The index of a message; -1 for the root, `undefined` for an unknown message. */
export function placeOf(state: State, id: MessageId | null): number | undefined {
  if (id === null) return -1;
  const place = findLastIndex(state.history, (entry) => entry.id === id);
  return place < 0 ? undefined : place;
}

/** The state with one more message at the tip of its run. */
export function appendToRun(state: State, run: Run, entry: Omit<Entry, "parent" | "runId">): State & { readonly run: Run } {
  const history = append(state.history, { ...entry, parent: run.tip, runId: run.runId });
  return { ...state, history, run: { ...run, tip: history.length - 1 } };
}
