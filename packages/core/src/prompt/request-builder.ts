import { type State, tipOf } from "../loop/state.ts";
import { createTranscript, followTranscript, type GrowingTranscript } from "../loop/transcript.ts";
import type { Message } from "../message/message.ts";
import { soundMessage } from "../message/message-flaws.ts";
import type { ContextHistory, FittedRequest } from "../ports/context-engine.ts";
import { RequestPath } from "./request-path.ts";
import { createValidHistory, type ValidHistory, withAnswerableEnd } from "./valid-history.ts";

/** What a state gives a model to answer. */
export type BuiltHistory =
  | ({
      readonly hasStoredMedia: boolean;
      readonly hasImages: boolean;
      readonly waiting?: never;
      readonly failed?: never;
    } & FittedRequest)
  /** Calls have no result yet, or there is no message. */
  | { readonly waiting: true; readonly messages?: never; readonly failed?: never }
  | { readonly failed: "context"; readonly messages?: never; readonly waiting?: never };

/** The history as the request may have it, and its size in characters. */
export type BuildingHistory = ContextHistory & Pick<ValidHistory, "textLength">;

/** What is sent of a history; `undefined`: it cannot fit. */
export type Fit = (history: BuildingHistory) => FittedRequest | undefined;

/** Builds the history of each model call of one session; a turn costs what is new in it. */
export interface RequestBuilder {
  /** The path as people see it, up to date with the last state given. Shared, grows in place. */
  readonly transcript: GrowingTranscript;
  /**
   * Total: any state of any log has an answer. Default of `fit`: all of the history.
   */
  build(state: State, fit?: Fit): BuiltHistory;
  /** The same of a list that is not the session's, at the cost of all of it. */
  buildFrom(messages: readonly Message[], fit?: Fit): BuiltHistory;
  /** The history at the state before anything is cut. Shared, grows in place. */
  historyAt(state: State): BuildingHistory;
  /** Brings the transcript to the state without building. */
  follow(state: State): GrowingTranscript;
  /**
   * The path at the state as a list that nothing changes later: the transcript is one list that grows in place, and user code may keep what it is
   * given. Frozen, because several hooks share it. It copies the list, so call it only where user code asks for messages.
   */
  messagesAt(state: State): readonly Message[];
}

const wholeHistory: Fit = ({ messages }) => ({ messages });

export function createRequestBuilder(): RequestBuilder {
  const transcript = createTranscript();
  const path = new RequestPath(transcript);

  const follow = (state: State): GrowingTranscript => {
    followTranscript(transcript, state, tipOf(state));
    return transcript;
  };

  const historyAt = (state: State): ValidHistory => {
    follow(state);
    return path.historyAt(state);
  };

  return {
    transcript,
    follow,
    historyAt,
    messagesAt: (state) => Object.freeze([...follow(state).messages]),
    build(state, fit = wholeHistory) {
      if (state.run?.calls.some((call) => call.state !== "done")) return { waiting: true };
      return builtOf(historyAt(state), fit);
    },
    buildFrom(messages, fit = wholeHistory) {
      const valid = createValidHistory();
      valid.take(messages.map(soundMessage));
      return builtOf(valid, fit);
    },
  };
}

function builtOf(valid: ValidHistory, fit: Fit): BuiltHistory {
  const { hasStoredMedia, hasImages } = valid;
  if (valid.messages.length === 0) return { waiting: true };
  const fitted = fit(valid);
  return fitted ? { ...fitted, messages: withAnswerableEnd(fitted.messages), hasStoredMedia, hasImages } : { failed: "context" };
}
