import { type State, tipOf } from "../loop/state.ts";
import { createTranscript, followTranscript, type GrowingTranscript } from "../loop/transcript.ts";
import type { Message } from "../message/message.ts";
import { soundMessage } from "../message/message-flaws.ts";
import type { ContextHistory, FittedRequest } from "../ports/context-engine.ts";
import { type AddedMessages, withAdded } from "./added-messages.ts";
import { RequestPath } from "./request-path.ts";
import { hasStoredMedia, mediaOf } from "./stored-media.ts";
import { createValidHistory, type ValidHistory, withAnswerableEnd } from "./valid-history.ts";

/** The history that a model is to answer, or why there is none. */
export type BuiltHistory =
  | ({
      readonly hasStoredMedia: boolean;
      readonly hasMedia: boolean;
      readonly waiting?: never;
      readonly failed?: never;
    } & Omit<FittedRequest, "examples">)
  /** Calls have no result yet, or there is no message. */
  | { readonly waiting: true; readonly messages?: never; readonly failed?: never }
  | { readonly failed: "context"; readonly messages?: never; readonly waiting?: never };

/** The history in a form that is valid for a request, and its size in characters. */
export type BuildingHistory = ContextHistory & Pick<ValidHistory, "textLength">;

/** Chooses what is sent of a history; `undefined`: it cannot fit. */
export type Fit = (history: BuildingHistory) => FittedRequest | undefined;

/** Builds the history of each model call of one session. A turn processes only what is new. */
export interface RequestBuilder {
  /** The path as people see it, up to date with the last state given. Shared, grows in place. */
  readonly transcript: GrowingTranscript;
  /** Returns a result for any state of any log. Default of `fit`: all of the history. */
  build(state: State, fit?: Fit, added?: AddedMessages): BuiltHistory;
  /** Like `build`, for messages that are not those of the session. Processes the whole list each time. */
  buildFrom(messages: readonly Message[], fit?: Fit, added?: AddedMessages): BuiltHistory;
  /** The whole history at the state, without the cut of `fit`. Shared, grows in place. */
  historyAt(state: State): BuildingHistory;
  /** Brings the transcript to the state without building. */
  follow(state: State): GrowingTranscript;
  /**
   * The path at the state as a list that nothing changes later: the transcript is one list that grows in place, and user code may keep its list. Frozen,
   * because several hooks share it. It copies the list, so call it only if user code asks for messages.
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
    build(state, fit = wholeHistory, added) {
      if (state.run?.calls.some((call) => call.state !== "done")) return { waiting: true };
      return builtOf(historyAt(state), fit, added);
    },
    buildFrom(messages, fit = wholeHistory, added) {
      const valid = createValidHistory();
      valid.take(messages.map(soundMessage));
      return builtOf(valid, fit, added);
    },
  };
}

function builtOf(valid: ValidHistory, fit: Fit, added?: AddedMessages): BuiltHistory {
  if (valid.messages.length === 0) return { waiting: true };
  const fitted = fit(valid);
  if (!fitted) return { failed: "context" };
  const { examples = added?.examples ?? [], ...parts } = fitted;
  const messages = withAnswerableEnd(withAdded(fitted.messages, added && { ...added, examples }));
  return {
    ...parts,
    messages,
    hasStoredMedia: valid.hasStoredMedia || examples.some(hasStoredMedia),
    hasMedia: valid.hasMedia || examples.some((message) => mediaOf(message).length > 0),
  };
}
