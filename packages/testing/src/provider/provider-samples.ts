import { type AgentError, isAgentError, type ModelRequest, type ToolSpec } from "@loopwright/core";
import { expectThat, type KitCase } from "../kit/kit.ts";
import { type CollectedAnswer, type CollectOptions, collectAnswer } from "./collect-answer.ts";
import type { MakeModelProvider, ModelProviderSubject, WireAnswer, WireFate, WireScript, WireStop } from "./wire.ts";

/** A promise of a model provider. */
export interface ModelProviderCase extends KitCase<MakeModelProvider> {
  /** Unique in the kit, stable; what a saboteur names. */
  readonly id: string;
}

/** How long a wire may take to see something, unless the subject sets it; less than what test runners give a test. */
export const patienceMs = 4_000;

/** In every prompt of the kit, and in no error. */
export const promptCanary = "PROMPT-7f3a-CANARY";

export const sampleTool: ToolSpec = {
  name: "weather_of",
  description: "Tells the weather of a place.",
  parameters: { type: "object", properties: { placeName: { type: "string" } }, required: ["placeName"] },
};

/** A short answer of one block. */
export const plainAnswer: WireAnswer = { text: ["Good ", "morning", "."], usage: { input: 11, output: 5 }, stop: "stop" };

/** An answer with text and one call. */
export const callAnswer: WireAnswer = {
  text: ["Let me ", "see."],
  calls: [{ id: "call_one", name: "weather_of", args: ['{"placeName":', '"Ber', 'lin"}'] }],
  usage: { input: 21, output: 9 },
  stop: "tool_calls",
};

/** A request of one short user message; `more` replaces fields. */
export function sampleRequest(subject: ModelProviderSubject, more: Partial<ModelRequest> = {}): ModelRequest {
  return { model: subject.model, messages: [{ role: "user", content: `Say something. ${promptCanary}` }], ...more };
}

/** The script of an answer, stopped at the given step. */
export function playing(answer: WireAnswer, at?: WireStop, fate: WireFate = "hold"): Extract<WireScript, { readonly type: "answer" }> {
  return at === undefined ? { type: "answer", answer } : { type: "answer", answer, stop: { at, fate } };
}

/** Makes a subject, uses it and closes it, whatever happens. */
export async function withSubject<Value>(
  make: MakeModelProvider,
  script: WireScript,
  use: (subject: ModelProviderSubject) => Promise<Value>,
): Promise<Value> {
  const subject = await make(script);
  try {
    return await use(subject);
  } finally {
    await subject.close();
  }
}

/** Plays a script and collects the answer to one request. */
export function answerTo(make: MakeModelProvider, script: WireScript, more: Partial<ModelRequest> = {}): Promise<CollectedAnswer> {
  return withSubject(make, script, (subject) => collectAnswer(subject.provider, sampleRequest(subject, more)));
}

/** Plays a script that must fail and gives back with what the call rejects. */
function failureOfCall(make: MakeModelProvider, script: WireScript): Promise<unknown> {
  return withSubject(make, script, (subject) => rejectionOf(collectAnswer(subject.provider, sampleRequest(subject))));
}

/** Plays a script that must fail with an AgentError. */
export async function agentErrorOf(make: MakeModelProvider, script: WireScript): Promise<AgentError> {
  const error = await failureOfCall(make, script);
  expectThat(isAgentError(error), `expected an AgentError, got ${String(error)}`);
  return error;
}

/** With what a promise rejects; throws where it is fulfilled. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const settled = await promise.then(
    () => ({ failed: false, error: undefined }),
    (error: unknown) => ({ failed: true, error }),
  );
  expectThat(settled.failed, "the call ended as if it were complete");
  return settled.error;
}

/** Starts a call and gives back its collected answer as a promise that is never unhandled. */
export function startCall(subject: ModelProviderSubject, options: CollectOptions): Promise<CollectedAnswer> {
  const call = collectAnswer(subject.provider, sampleRequest(subject), options);
  call.catch(() => undefined);
  return call;
}
