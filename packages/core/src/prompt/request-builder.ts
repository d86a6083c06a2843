import { type Compaction, type State, tipOf } from "../loop/state.ts";
import { createTranscript, followTranscript, type GrowingTranscript } from "../loop/transcript.ts";
import type { Message } from "../message/message.ts";
import { fitWindow } from "./fit-window.ts";
import { createValidHistory, type ValidHistory, withAnswerableEnd } from "./valid-history.ts";

/** What a state gives a model to answer. */
export type BuiltHistory =
  | { readonly messages: readonly Message[]; readonly hasStoredMedia: boolean; readonly waiting?: never; readonly failed?: never }
  /** Calls have no result yet, or nothing was said. */
  | { readonly waiting: true; readonly messages?: never; readonly failed?: never }
  | { readonly failed: "context"; readonly messages?: never; readonly waiting?: never };

/** Builds the history of each model call of one session; a turn costs what is new in it. */
export interface RequestBuilder {
  /** The path as people see it, up to date with the last state given. Shared, grows in place. */
  readonly transcript: GrowingTranscript;
  /** Total: any state of any log has an answer. `contextTokens`: the model's window, where known. */
  build(state: State, contextTokens?: number): BuiltHistory;
  /** Brings the transcript to the state without building. */
  follow(state: State): GrowingTranscript;
}

export function createRequestBuilder(): RequestBuilder {
  const transcript = createTranscript();
  let history: ValidHistory = createValidHistory();
  let generation = transcript.generation;

  const follow = (state: State): GrowingTranscript => {
    followTranscript(transcript, state, tipOf(state));
    return transcript;
  };

  const upToDate = (state: State): ValidHistory => {
    follow(state);
    if (state.compactions.length > 0) {
      const compacted = createValidHistory();
      compacted.take(applyCompactions(transcript, state.compactions));
      return compacted;
    }
    if (generation !== transcript.generation || history.done > transcript.messages.length) {
      history = createValidHistory();
      generation = transcript.generation;
    }
    history.take(transcript.messages);
    return history;
  };

  return {
    transcript,
    follow,
    build(state, contextTokens) {
      if (state.run?.calls.some((call) => call.stage !== "settled")) return { waiting: true };
      const valid = upToDate(state);
      if (valid.messages.length === 0) return { waiting: true };
      const fitted = fitWindow(valid.messages, valid.textLength, contextTokens);
      return fitted ? { messages: withAnswerableEnd(fitted), hasStoredMedia: valid.hasStoredMedia } : { failed: "context" };
    },
  };
}

/** The path with each compacted stretch replaced by its summary; a stretch that is not on the path is left alone. */
function applyCompactions({ messages, ids }: GrowingTranscript, compactions: readonly Compaction[]): readonly Message[] {
  let path = messages.map((message, i) => ({ id: ids[i], message }));
  for (const { from, to, summary } of compactions) {
    const start = path.findIndex(({ id }) => id === from);
    const end = path.findIndex(({ id }) => id === to);
    if (start < 0 || end < start) continue;
    const stand: Message = { role: "notice", text: `Summary of the conversation so far:\n${summary}` };
    path = [...path.slice(0, start), { id: from, message: stand }, ...path.slice(end + 1)];
  }
  return path.map(({ message }) => message);
}
