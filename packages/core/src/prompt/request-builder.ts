import { type Compaction, type State, tipOf } from "../loop/state.ts";
import { createTranscript, followTranscript, type GrowingTranscript } from "../loop/transcript.ts";
import type { Message, MessageId, ToolResultMessage } from "../message/message.ts";
import { soundMessage } from "../message/sound-message.ts";
import { createWindowFit, type Window } from "./fit-window.ts";
import type { MessageSizes } from "./message-length.ts";
import { withoutThinking } from "./opaque-content.ts";
import { createValidHistory, type ValidHistory, withAnswerableEnd } from "./valid-history.ts";

/** What a state gives a model to answer. */
export type BuiltHistory =
  | {
      readonly messages: readonly Message[];
      readonly hasStoredMedia: boolean;
      readonly hasImages: boolean;
      readonly waiting?: never;
      readonly failed?: never;
    }
  /** Calls have no result yet, or there is no message. */
  | { readonly waiting: true; readonly messages?: never; readonly failed?: never }
  | { readonly failed: "context"; readonly messages?: never; readonly waiting?: never };

/** Into what a history is fitted. */
export interface RequestWindow {
  /** Of the model. Absent: unknown, and nothing is cut. */
  readonly contextTokens?: number | undefined;
  /** Size of the request beside its messages, in characters. Default 0. */
  readonly besideLength?: number;
  /** Default: the estimate. */
  readonly sizes?: MessageSizes | undefined;
}

/** Builds the history of each model call of one session; a turn costs what is new in it. */
export interface RequestBuilder {
  /** The path as people see it, up to date with the last state given. Shared, grows in place. */
  readonly transcript: GrowingTranscript;
  /**
   * Total: any state of any log has an answer.
   */
  build(state: State, window?: RequestWindow): BuiltHistory;
  /** The same of a list that is not the session's, at the cost of all of it. */
  buildFrom(messages: readonly Message[], window?: RequestWindow): BuiltHistory;
  /** The history at the state before anything is cut. Shared, grows in place. */
  historyAt(state: State): Pick<ValidHistory, "messages" | "textLength">;
  /** Brings the transcript to the state without building. */
  follow(state: State): GrowingTranscript;
  /**
   * The path at the state as a list that nothing changes later: the transcript is one list that grows in place, and user code may keep what it is
   * given. Frozen, because several hooks share it. It copies the list, so call it only where user code asks for messages.
   */
  messagesAt(state: State): readonly Message[];
}

export function createRequestBuilder(): RequestBuilder {
  const transcript = createTranscript();
  const window = createWindowFit();
  let generation = transcript.generation;
  let refusedAt: number | undefined;
  /** The run whose results are shown whole. */
  let runId: string | undefined;

  const follow = (state: State): GrowingTranscript => {
    followTranscript(transcript, state, tipOf(state));
    return transcript;
  };

  const begin = (): ValidHistory =>
    createValidHistory({
      asTaken: (message, at) => asTaken({ message, id: transcript.ids[at] }, { transcript, refusedAt, runId }),
      summaryOf: (at) => summaryIn(transcript, at, runId),
    });
  let history = begin();

  const upToDate = (state: State): ValidHistory => {
    follow(state);
    const { thinkingRefusedAt } = state;
    const isNewRun = runId !== state.run?.runId;
    runId = state.run?.runId;
    const isVoid = generation !== transcript.generation || refusedAt !== thinkingRefusedAt || history.done > transcript.messages.length;
    generation = transcript.generation;
    refusedAt = thinkingRefusedAt;
    if (isVoid) history = begin();
    else if (isNewRun) history.summarise();
    if (state.compactions.length > 0) {
      const compacted = createValidHistory();
      compacted.take(applyCompactions(pathOf({ transcript, refusedAt, runId }), state.compactions));
      return compacted;
    }
    history.take(transcript.messages);
    return history;
  };

  return {
    transcript,
    follow,
    historyAt: upToDate,
    messagesAt: (state) => Object.freeze([...follow(state).messages]),
    build(state, into = {}) {
      if (state.run?.calls.some((call) => call.state !== "done")) return { waiting: true };
      const valid = upToDate(state);
      if (valid.messages.length === 0) return { waiting: true };
      return builtOf(valid, window.fit(valid.messages, windowOf(valid, into)));
    },
    buildFrom(messages, into = {}) {
      const valid = createValidHistory();
      valid.take(messages.map(soundMessage));
      if (valid.messages.length === 0) return { waiting: true };
      return builtOf(valid, createWindowFit().fit(valid.messages, windowOf(valid, into)));
    },
  };
}

const windowOf = ({ messages, textLength }: ValidHistory, { contextTokens, besideLength = 0, sizes }: RequestWindow): Window => ({
  contextTokens,
  besideLength,
  textLength: sizes?.sizeOfAll(messages) ?? textLength,
  sizes,
});

function builtOf({ hasStoredMedia, hasImages }: ValidHistory, fitted: readonly Message[] | undefined): BuiltHistory {
  return fitted ? { messages: withAnswerableEnd(fitted), hasStoredMedia, hasImages } : { failed: "context" };
}

interface Step {
  readonly id: MessageId | undefined;
  readonly message: Message;
}

/** What decides how a message of the transcript is shown. */
interface Showing {
  readonly transcript: GrowingTranscript;
  readonly refusedAt: number | undefined;
  /** The open run. */
  readonly runId: string | undefined;
}

function pathOf(showing: Showing): readonly Step[] {
  const { messages, ids } = showing.transcript;
  return messages.map((message, at) => ({ id: ids[at], message: asTaken({ message, id: ids[at] }, showing) }));
}

/**
 * An answer before the fact by which a vendor refused thinking is one of another vendor from then on. A result of another run is its summary,
 * where it has one.
 */
function asTaken({ message, id = "" }: Step, { transcript, refusedAt, runId }: Showing): Message {
  if (message.role === "tool_result") {
    const summary = transcript.summaries.get(id);
    return summary && summary.runId !== runId ? summarised(message, summary.text) : message;
  }
  if (refusedAt === undefined || message.role !== "assistant") return message;
  return Number.parseInt(id, 10) < refusedAt ? withoutThinking(message) : message;
}

/** What a result that is shown whole is in every other run. */
function summaryIn({ messages, ids, summaries }: GrowingTranscript, at: number, runId: string | undefined): Message | undefined {
  const summary = summaries.get(ids[at] ?? "");
  if (summary?.runId !== runId || summary === undefined) return undefined;
  const message = soundMessage(messages[at] as Message);
  return message.role === "tool_result" ? summarised(message, summary.text) : undefined;
}

/** Results as later runs see them; kept as long as the result, so that providers may cache by identity. */
const inLaterRuns = new WeakMap<ToolResultMessage, ToolResultMessage>();

function summarised(message: ToolResultMessage, text: string): ToolResultMessage {
  const known = inLaterRuns.get(message);
  if (known) return known;
  const summary = { ...message, content: text };
  inLaterRuns.set(message, summary);
  return summary;
}

/** The path with each compacted stretch replaced by its summary; a stretch that is not on the path is left alone. */
function applyCompactions(whole: readonly Step[], compactions: readonly Compaction[]): readonly Message[] {
  let path = whole;
  for (const { from, to, summary, pinned = [] } of compactions) {
    const start = path.findIndex(({ id }) => id === from);
    const end = path.findIndex(({ id }) => id === to);
    if (start < 0 || end < start) continue;
    const stand: Message = { role: "notice", text: `Summary of the conversation so far:\n${summary}` };
    const kept = path.slice(start, end + 1).filter(({ id }) => id !== undefined && pinned.includes(id));
    path = [...path.slice(0, start), { id: from, message: stand }, ...kept, ...path.slice(end + 1)];
  }
  return path.map(({ message }) => message);
}
