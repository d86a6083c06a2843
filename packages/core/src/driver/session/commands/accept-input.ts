import { outputSpec } from "../../../agent/output-spec.ts";
import { AgentError } from "../../../errors.ts";
import { at, lastWithKey } from "../../../loop/append-list.ts";
import { isEndedChild } from "../../../loop/children/background-children.ts";
import type { BodyOf, FactBody, InputOrigin, RunOptions, Verdict } from "../../../loop/fact.ts";
import { idOfInput, keyOfInput, placeOf, seqOfInput } from "../../../loop/fold-inputs.ts";
import { endOf, type KnownInput, type QueuedInput, type State } from "../../../loop/state.ts";
import { canonicalJson } from "../../../message/canonical-json.ts";
import { digestOf } from "../../../message/digest.ts";
import { present } from "../../../message/drop-undefined.ts";
import type { Json } from "../../../message/json.ts";
import type { MessageId, UserMessage } from "../../../message/message.ts";
import { shownId } from "../../../message/shown-id.ts";
import { wellFormed } from "../../../message/well-formed-text.ts";
import type { ExecuteOptions, SubmitOptions } from "../../../protocol/execute.ts";
import type { ExecuteInput } from "../../../protocol/execute-input.ts";
import { isTraceparent } from "../../../protocol/traceparent.ts";
import { checkMedia } from "../../model/check-media-input.ts";
import { driverLimits } from "../../setup/driver-limits.ts";
import type { Deps } from "../../setup/session-deps.ts";
import { childEnded, sessionClosed } from "../../setup/session-errors.ts";

/** An input that requests a run, with the ids that it gets on acceptance. */
export interface NewInput {
  readonly inputId: string;
  readonly runId: string;
  readonly message: UserMessage | undefined;
  readonly regenerate: string | undefined;
  readonly options: SubmitOptions;
  /** Digest of the content under the idempotency key other than message and parent; absent without a key. */
  readonly keyedDigest: string | undefined;
  /** The original message, if an `accept` hook edited it. */
  readonly given?: UserMessage;
  /** The answer of an `accept` hook, in place of a model call. */
  readonly answer?: string;
  /** The `traceparent` that the input is recorded with. */
  readonly trace?: string | undefined;
  readonly verdicts?: readonly Verdict[];
}

export interface AcceptedInput {
  readonly bodies: readonly FactBody[];
  /** The run that answers the input. */
  readonly runId: string;
  /** The seq of the first fact of the input, if the log already has the input. */
  readonly known?: { readonly seq: number; readonly inputId?: string };
}

/** @throws AgentError INPUT_INVALID when the message is empty or no plain JSON, MODEL_UNSUPPORTED for an image or a file that the model does not take. */
export function newInput(input: Exclude<ExecuteInput, readonly unknown[]>, options: SubmitOptions, deps: Deps): NewInput {
  const trace = isTraceparent(options.trace) ? options.trace : deps.observation?.trace();
  const ids = { inputId: deps.ids.next(), runId: deps.ids.next(), options, keyedDigest: keyedDigestOf(options), trace };
  checkMode(options.mode);
  checkOutputOption(options.output, deps);
  if (typeof input === "object" && "regenerate" in input) return { ...ids, message: undefined, regenerate: input.regenerate };
  const message: UserMessage = typeof input === "string" ? { role: "user", content: input } : input;
  checkMedia(message, deps.bound.agent, options.model);
  return { ...ids, message: wellFormedMessage(message), regenerate: undefined };
}

const modes: ReadonlySet<string> = new Set<NonNullable<ExecuteOptions["mode"]>>(["enqueue", "steer", "interrupt", "merge", "reject"]);

function checkMode(mode: string | undefined): void {
  if (mode === undefined || modes.has(mode)) return;
  throw new AgentError("INPUT_INVALID", {
    message: `There is no mode ${JSON.stringify(String(mode).slice(0, 40))}.`,
    fix: `Use ${[...modes].join(", ")}.`,
  });
}

function checkOutputOption(output: RunOptions["output"], { bound }: Deps): void {
  if (!output) return;
  const refused = (message: string, fix: string): AgentError => new AgentError("INPUT_INVALID", { message, fix });
  outputSpec({ name: output.name, schema: output.schema }, refused);
  if (bound.agent.output) throw refused(`The agent \`${bound.agent.name}\` has an \`output\` of its own.`, "Leave `output` out.");
}

const invalid = (message: string): AgentError => new AgentError("INPUT_INVALID", { message, fix: "Send text, or parts with content." });

/** Replaces lone surrogates, which UTF-8 cannot hold. JSON text without `\ud` has none. */
function wellFormedMessage(message: UserMessage): UserMessage {
  const text = JSON.stringify(message);
  const mend = (_: string, value: unknown): unknown => (typeof value === "string" ? wellFormed(value) : value);
  return text.includes("\\ud") ? (JSON.parse(text, mend) as UserMessage) : message;
}

/**
 * The facts that record the input in this state: none if it was accepted before; otherwise its fact, with the opening of a new log and the abort
 * that `interrupt` requests. @throws AgentError SESSION_BUSY, SESSION_CLOSED, INPUT_INVALID, KEY_REUSED
 */
export function acceptInput(
  state: State,
  input: NewInput,
  { deps, opening, isOwner }: { readonly deps: Deps; readonly opening: FactBody; readonly isOwner: boolean },
): AcceptedInput {
  const { options } = input;
  const known = knownInput(state, input) ?? (options.idempotencyKey === undefined ? repeatedInput(state, input, isOwner) : undefined);
  if (known) return { bodies: [], runId: known.runId, known };
  if (state.status === "closed") throw sessionClosed(deps.sessionId);
  if (isEndedChild(state)) throw childEnded(deps.sessionId, state.parent?.session ?? "");
  const { run } = state;
  const wanted = options.mode ?? "enqueue";
  if (run && wanted === "reject") throw new AgentError("SESSION_BUSY", { message: `The session \`${deps.sessionId}\` is running.` });
  checkRoom(state, deps.sessionId);
  const parent = input.regenerate ?? options.parent;
  checkParent(state, input, parent);
  const { mode, runId } = wayOf(state, input, { wanted, parent, deps });
  const body = inputBody(input, { runId, parent, mode, access: deps.access, origin: originOf(deps) });
  const first: readonly FactBody[] = state.status === "new" ? [opening] : [];
  const abort = wanted === "interrupt" ? interruptionOf(run, deps.access.user) : [];
  return { bodies: [...first, ...abort, body], runId };
}

interface Wanted {
  readonly wanted: NonNullable<ExecuteOptions["mode"]>;
  readonly parent: MessageId | null | undefined;
  readonly deps: Deps;
}

/** How the input is recorded in this state, and the run that answers it. @throws AgentError INPUT_INVALID for a steered input with a `parent` */
function wayOf(state: State, input: NewInput, { wanted, parent, deps }: Wanted): Pick<BodyOf<"input.accepted">, "mode" | "runId"> {
  const { run } = state;
  if (wanted === "steer" && run && !run.abort && input.message && input.answer === undefined) {
    if (parent !== undefined) throw invalid("A steered message continues the open run; it cannot choose its `parent`.");
    return { mode: "steer", runId: run.runId };
  }
  const host = wanted === "merge" && parent === undefined ? hostOf(state, input, deps) : undefined;
  if (host) return { mode: "merge", runId: host.runId };
  return { mode: wanted === "interrupt" ? wanted : "enqueue", runId: input.runId };
}

/** The input whose run a merged input shares: the last that waits, if a person sent it for the same caller, with the same options and labels. */
function hostOf({ inputs }: State, { message, answer, options }: NewInput, { access }: Deps): QueuedInput | undefined {
  const last = inputs.at(-1);
  const host = inputs.find(({ runId }) => runId === last?.runId);
  if (!host?.message || !message || answer !== undefined) return undefined;
  if (host.jumps || host.abort || host.answer !== undefined || host.schedule !== undefined || host.round !== undefined) return undefined;
  const { options: chosen } = runOptions(options);
  return termsOf(host) === termsOf({ access, options: chosen, labels: options.labels }) ? host : undefined;
}

/** What the inputs of one run have in common. */
function termsOf({ access, options, labels }: { readonly [Part in "access" | "options" | "labels"]?: object | undefined }): string {
  return canonicalJson(JSON.parse(JSON.stringify([access ?? null, options ?? null, labels ?? {}])) as Json);
}

const interruptionOf = (run: State["run"], by: string): readonly FactBody[] =>
  run ? [{ type: "abort.requested", runId: run.runId, reason: "interrupted", by }] : [];

function inputBody(
  input: NewInput,
  {
    runId,
    parent,
    mode,
    access,
    origin,
  }: Pick<BodyOf<"input.accepted">, "runId" | "mode" | "access"> & {
    readonly parent: MessageId | null | undefined;
    readonly origin: InputOrigin | undefined;
  },
): FactBody {
  const { options, message, inputId, keyedDigest, verdicts, given, answer, trace } = input;
  const { labels, idempotencyKey } = options;
  return {
    type: "input.accepted",
    inputId,
    runId,
    mode,
    ...present({ message, parent, idempotencyKey, keyedDigest, access, verdicts, answer, origin, trace }),
    ...runOptions(options),
    ...(labels && Object.keys(labels).length > 0 ? { labels } : {}),
    ...(given ? { givenDigest: messageDigest(given) } : {}),
  };
}

function originOf({ parent }: Deps): InputOrigin | undefined {
  if (!parent) return undefined;
  const { depth: _, depthMax: __, ...call } = parent;
  return { type: "session", ...call };
}

/** Bounds the waiting inputs, because every node that has the session loaded holds them in memory. @throws AgentError SESSION_BUSY */
function checkRoom({ inputs, run }: State, sessionId: string): void {
  const { inputsWaiting } = driverLimits;
  if (inputs.length + (run?.steered.length ?? 0) < inputsWaiting) return;
  throw new AgentError("SESSION_BUSY", {
    message: `The session \`${sessionId}\` already has ${inputsWaiting} inputs that wait for an answer.`,
    fix: "Send the input again when some of them have their answers, or stop the run.",
  });
}

function checkParent(state: State, input: NewInput, parent: string | null | undefined): void {
  if (parent === undefined) return;
  const index = placeOf(state, parent);
  if (index === undefined)
    throw new AgentError("INPUT_INVALID", {
      message: `There is no message \`${shownId(String(parent))}\` to continue.`,
      fix: "Take an id from `session.messageIds`.",
    });
  if (input.regenerate !== undefined && at(state.history, index)?.message.role !== "user") {
    throw new AgentError("INPUT_INVALID", {
      message: `Message \`${parent}\` is not a user message.`,
      fix: "Regenerate from the user message to answer again.",
    });
  }
}

/** The options that are recorded with an input; none if the caller has chosen nothing. */
export function runOptions(given: ExecuteOptions): { options?: RunOptions } {
  const { model, temperature, maxTokens, reasoningEffort, systemPrompt, output } = given;
  const chosen = Object.entries({ model, temperature, maxTokens, reasoningEffort, systemPrompt, output }).filter(
    ([, value]) => value !== undefined,
  );
  return chosen.length === 0 ? {} : { options: Object.fromEntries(chosen) };
}

/** Includes the mode that the caller chose, not the recorded mode: a `steer` that came too late is recorded as `enqueue`. */
function keyedDigestOf(options: SubmitOptions): string | undefined {
  const { idempotencyKey, mode = "enqueue", keyedContent = null, labels } = options;
  const { options: chosen = {} } = runOptions(options);
  return idempotencyKey === undefined ? undefined : digestOf(canonicalJson([mode, { ...labels, ...chosen }, keyedContent]));
}

/** The digest of the original message, independent of the order of its members. */
const messageDigest = (message: UserMessage): string => digestOf(canonicalJson(JSON.parse(JSON.stringify(message)) as Json));

type Known = Pick<KnownInput, "runId" | "inputId" | "seq">;

/** The input with the same id or key. @throws AgentError KEY_REUSED when the key came with another message, on another branch, or with other options. */
export function knownInput(state: State, input: NewInput): Known | undefined {
  const { inputId, regenerate, options, keyedDigest } = input;
  const message = input.given ?? input.message;
  const key = options.idempotencyKey;
  const sameKey = key === undefined ? undefined : lastWithKey(state.known, key, keyOfInput);
  const sameId = lastWithKey(state.known, inputId, idOfInput);
  const twin = (sameKey?.seq ?? 0) > (sameId?.seq ?? 0) ? sameKey : sameId;
  if (!twin) return undefined;
  const isSameText =
    twin.givenDigest === undefined
      ? JSON.stringify(twin.message) === JSON.stringify(message)
      : message !== undefined && twin.givenDigest === messageDigest(message);
  const isSameMessage = isSameText && twin.parent === (regenerate ?? options.parent);
  const isSame = isSameMessage && (twin.keyedDigest === undefined || twin.keyedDigest === keyedDigest);
  if (isSame) return { ...twin, runId: answeringRun(state, twin) };
  throw new AgentError("KEY_REUSED", {
    message: `The idempotency key was used with ${isSameMessage ? "another mode, other options or another context" : "another message"}.`,
  });
}

/** The run that answers the input. A steered input that came too late gets its own run, under the id of the input. */
function answeringRun(state: State, { runId, inputId }: KnownInput): string {
  const isOwn = state.run?.runId === inputId || state.inputs.some((input) => input.runId === inputId) || endOf(state, inputId);
  return isOwn ? inputId : runId;
}

/** The run that answers the input of this idempotency key. */
export function runOfKey(state: State, key: string): string | undefined {
  const known = lastWithKey(state.known, key, keyOfInput);
  return known && answeringRun(state, known);
}

/**
 * The input that this one repeats: the same message without a key, sent again because the process had died, while the first one has no answer.
 * For the owner, an input from before its own claim counts as the original, because the claim shows that the earlier owner died. A handle that does
 * not own the session cannot know whether the owner lives, because a lease outlives its owner: for it every such message is a copy (decision 0023).
 */
function repeatedInput(state: State, { message, options }: NewInput, isOwner: boolean): Known | undefined {
  const twin = unansweredTwin(state, message);
  if (!twin || twin.parent !== options.parent) return undefined;
  if (isOwner) return twin.seq < (state.attended?.takenOverSeq ?? 0) ? twin : undefined;
  return options.mode === "interrupt" ? undefined : twin;
}

/**
 * The newest input with this message that has no answer yet: it waits, will join the run, or is among the last messages of the run. Only these inputs
 * are compared, not all inputs of the session.
 */
function unansweredTwin(state: State, message: UserMessage | undefined): KnownInput | undefined {
  if (!message) return undefined;
  const { inputs, run, known } = state;
  const open = [...inputs, ...(run?.steered ?? [])].map(({ inputId }) => lastWithKey(known, inputId, idOfInput));
  const last = [...lastWordsOf(state)].map((id) => lastWithKey(known, id, seqOfInput));
  const words = JSON.stringify(message.content);
  let twin: KnownInput | undefined;
  for (const input of [...open, ...last])
    if (input && input.seq > (twin?.seq ?? 0) && JSON.stringify(input.message?.content) === words) twin = input;
  return twin && { ...twin, runId: answeringRun(state, twin) };
}

/** The ids of the messages of users at the end of the open run. */
function lastWordsOf({ history, run }: State): ReadonlySet<MessageId> {
  const ids = new Set<MessageId>();
  for (
    let entry = run && at(history, run.tip);
    entry?.runId === run?.runId && entry?.message.role === "user";
    entry = at(history, entry.parent)
  )
    ids.add(entry.id);
  return ids;
}
