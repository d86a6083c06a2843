import { AgentError } from "../errors.ts";
import { at, findLastIndex } from "../loop/append-list.ts";
import type { FactBody, RunOptions } from "../loop/fact.ts";
import { placeOf } from "../loop/inputs.ts";
import { type State, tipOf } from "../loop/state.ts";
import type { UserMessage } from "../message/message.ts";
import type { ExecuteInput, ExecuteOptions } from "../protocol/execute.ts";
import { wellFormed } from "../tools/cut-text.ts";
import type { Deps } from "./deps.ts";
import { checkPayload } from "./payload.ts";
import { sessionClosed } from "./session-errors.ts";

/** An input that asks for a run, with the ids it gets when it is accepted. */
export interface NewInput {
  readonly inputId: string;
  readonly runId: string;
  readonly message: UserMessage | undefined;
  readonly regenerate: string | undefined;
  readonly options: ExecuteOptions;
}

export interface AcceptedInput {
  readonly bodies: readonly FactBody[];
  /** The run that answers it. */
  readonly runId: string;
}

/** @throws AgentError INPUT_INVALID when the message is empty or no plain JSON. */
export function newInput(input: Exclude<ExecuteInput, readonly unknown[]>, options: ExecuteOptions, deps: Deps): NewInput {
  const ids = { inputId: deps.ids.next(), runId: deps.ids.next(), options };
  if (typeof input === "object" && "regenerate" in input) return { ...ids, message: undefined, regenerate: input.regenerate };
  const message: UserMessage = typeof input === "string" ? { role: "user", content: input } : input;
  if (message?.role !== "user") throw invalid("The input is neither a text, a user message nor a list of results.");
  const { content } = message;
  const isEmpty = typeof content === "string" ? content.trim() === "" : !Array.isArray(content) || content.length === 0;
  if (isEmpty) throw invalid("The message is empty.");
  checkPayload(message, "The message");
  return { ...ids, message: wellFormedMessage(message), regenerate: undefined };
}

const invalid = (message: string): AgentError => new AgentError("INPUT_INVALID", { message, fix: "Send text, or parts with content." });

/** Lone surrogates do not survive UTF-8. Only where JSON has `\ud` there may be one. */
function wellFormedMessage(message: UserMessage): UserMessage {
  const text = JSON.stringify(message);
  const mend = (_: string, value: unknown): unknown => (typeof value === "string" ? wellFormed(value) : value);
  return text.includes("\\ud") ? (JSON.parse(text, mend) as UserMessage) : message;
}

/**
 * What the input becomes in this state: nothing where it was accepted before, else its fact, with the opening of a new log and the abort
 * that `interrupt` asks for. @throws AgentError SESSION_BUSY, SESSION_CLOSED, INPUT_INVALID, KEY_REUSED
 */
export function acceptInput(
  state: State,
  input: NewInput,
  { deps, opening, isRecovering }: { readonly deps: Deps; readonly opening: FactBody; readonly isRecovering: boolean },
): AcceptedInput {
  const { options, message, inputId } = input;
  if (state.status === "closed") throw sessionClosed(deps.sessionId);
  const known =
    knownInput(state, input) ?? (isRecovering && options.idempotencyKey === undefined ? interruptedTwin(state, message) : undefined);
  if (known !== undefined) return { bodies: [], runId: known };
  const { run } = state;
  const mode = options.mode ?? "enqueue";
  if (run && mode === "reject") throw new AgentError("SESSION_BUSY", { message: `The session \`${deps.sessionId}\` is running.` });
  const parent = input.regenerate ?? options.parent;
  checkParent(state, input, parent);
  const steers = mode === "steer" && run !== undefined && !run.abort && message !== undefined;
  if (steers && parent !== undefined) throw invalid("A steered message continues the open run; it cannot choose its `parent`.");
  const runId = steers ? run.runId : input.runId;
  const body: FactBody = {
    type: "input.accepted",
    inputId,
    runId,
    mode: steers ? "steer" : mode === "interrupt" ? "interrupt" : "enqueue",
    ...(message ? { message } : {}),
    ...(parent === undefined ? {} : { parent }),
    ...(options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey }),
    access: deps.access,
    ...runOptions(options),
  };
  const first: readonly FactBody[] = state.status === "new" ? [opening] : [];
  const abort: readonly FactBody[] =
    mode === "interrupt" && run ? [{ type: "abort.requested", runId: run.runId, reason: "interrupted", by: deps.access.user }] : [];
  return { bodies: [...first, ...abort, body], runId };
}

function checkParent(state: State, input: NewInput, parent: string | null | undefined): void {
  if (parent === undefined) return;
  const place = placeOf(state, parent);
  if (place === undefined)
    throw new AgentError("INPUT_INVALID", {
      message: `There is no message \`${parent}\` to continue.`,
      fix: "Take an id from `session.messageIds`.",
    });
  if (input.regenerate !== undefined && at(state.history, place)?.message.role !== "user") {
    throw new AgentError("INPUT_INVALID", {
      message: `Message \`${parent}\` is not a user's.`,
      fix: "Regenerate from the user message to answer again.",
    });
  }
}

function runOptions({ model, temperature, maxTokens, reasoningEffort, surface, activeModule }: ExecuteOptions): { options?: RunOptions } {
  const chosen = Object.entries({ model, temperature, maxTokens, reasoningEffort, surface, activeModule }).filter(
    ([, value]) => value !== undefined,
  );
  return chosen.length === 0 ? {} : { options: Object.fromEntries(chosen) };
}

/** The run of an input with the same id or key. @throws AgentError KEY_REUSED when the key came with another message. */
function knownInput(state: State, { inputId, message, options }: NewInput): string | undefined {
  const key = options.idempotencyKey;
  const place = findLastIndex(state.known, (known) => known.inputId === inputId || (key !== undefined && known.key === key));
  const twin = at(state.known, place);
  if (!twin) return undefined;
  if (JSON.stringify(twin.message) === JSON.stringify(message)) return twin.runId;
  throw new AgentError("KEY_REUSED", { message: "The idempotency key was used with another message." });
}

/** After a crash the same words said again are the interrupted input, not a second one (only when they end the transcript). */
function interruptedTwin(state: State, message: UserMessage | undefined): string | undefined {
  if (!message) return undefined;
  const { run } = state;
  const waiting = run ? undefined : state.inputs.at(-1);
  const last = run ? at(state.history, tipOf(state))?.message : waiting?.message;
  const isTwin = last?.role === "user" && JSON.stringify(last.content) === JSON.stringify(message.content);
  return isTwin ? (run?.runId ?? waiting?.runId) : undefined;
}
