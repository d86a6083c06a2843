import { AgentError, type ErrorCode } from "../errors.ts";
import type { ModelChunk } from "../message/chunk.ts";
import type { JsonObject } from "../message/json.ts";
import type { StopReason } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { ModelCapabilities, ModelProvider, ModelRequest } from "../ports/model-provider.ts";
import { abortable } from "../stores/abortable.ts";
import { piecesOf } from "./split-text.ts";

/** A tool call of a scripted turn. */
export interface ScriptedCall {
  readonly name: string;
  readonly args?: JsonObject;
  /** The raw argument text instead of `args`, for broken JSON. */
  readonly argsText?: string;
  /** Default: `call_<n>`, counted over the whole script. Empty: the model sends none. */
  readonly id?: string;
}

/** What the model does in one call: its content in the order thinking, text, calls, then its end. */
export interface ScriptedTurn {
  /** Sent first. */
  readonly thinking?: string;
  /** Sent after the thinking. */
  readonly text?: string;
  /** Sent after the text. */
  readonly calls?: readonly ScriptedCall[];
  /** Batches that are yielded unchanged, after the content above: for blocks that interleave, opaque data and broken streams. */
  readonly chunks?: readonly (readonly ModelChunk[])[];
  /** Absent: the model reports no usage. */
  readonly usage?: Usage;
  /** Default: `tool_calls` when there are calls, else `stop`. */
  readonly stopReason?: Exclude<StopReason, "aborted">;
  /** The vendor's word for the stop reason. Default: `stopReason`. */
  readonly stopReasonRaw?: string;
  /** The text for people with the stop reason `error`. */
  readonly message?: string;
  /** Thrown after the content, in place of the end: an error, or its code. */
  readonly error?: Error | ErrorCode;
  /** True: sends nothing more after the content, until it is aborted. */
  readonly hang?: boolean;
  /** True: the stream stops after the content without its end. */
  readonly breaksOff?: boolean;
  /** The first batch waits for it. */
  readonly after?: PromiseLike<unknown>;
  /** Characters per delta. Default: `chunkSize` of the script. */
  readonly chunkSize?: number;
}

/** A turn, or a function that makes it from the request. */
export type ScriptedStep = ScriptedTurn | ((request: ModelRequest) => ScriptedTurn);

export interface ScriptedOptions {
  /** Name of the provider. Default `scripted`. */
  readonly name?: string;
  /** Default model. Default `scripted-1`. */
  readonly model?: string;
  readonly capabilities?: Partial<ModelCapabilities>;
  /** Characters per delta; each delta is a batch of its own. Default 0: every block in one delta. */
  readonly chunkSize?: number;
}

/** A provider that plays a script and keeps its requests. */
export interface ScriptedProvider extends ModelProvider {
  /** Every request so far, oldest first, including those without a turn in the script. */
  readonly requests: readonly ModelRequest[];
  /** Turns not played yet; `Infinity` for a script that is a function. */
  readonly remaining: number;
}

/**
 * A model that plays these turns in order, one per call, or calls the function for each. For tests.
 * Its stream throws AgentError CONFIG_INVALID when no turn is left.
 */
export function scripted(
  script: readonly ScriptedStep[] | ((request: ModelRequest, call: number) => ScriptedTurn),
  options: ScriptedOptions = {},
): ScriptedProvider {
  const { name = "scripted", model = "scripted-1", chunkSize = 0 } = options;
  const capabilities: ModelCapabilities = {
    streaming: true,
    tools: true,
    vision: true,
    promptCaching: false,
    ...options.capabilities,
  };
  const requests: ModelRequest[] = [];
  let callCount = 0;

  const turnFor = (request: ModelRequest): ScriptedTurn => {
    requests.push({ ...request, messages: [...request.messages] });
    const index = requests.length - 1;
    if (typeof script === "function") return script(request, index + 1);
    const step = script[index];
    if (step === undefined) throw exhausted(name, script.length, index + 1);
    return typeof step === "function" ? step(request) : step;
  };

  return {
    name,
    defaultModel: model,
    requests,
    get remaining() {
      return typeof script === "function" ? Number.POSITIVE_INFINITY : Math.max(0, script.length - requests.length);
    },
    capabilities: () => capabilities,
    async *stream(request, { signal }) {
      signal.throwIfAborted();
      const turn = turnFor(request);
      if (turn.after) await abortable(turn.after, signal);
      const firstId = callCount + 1;
      callCount += turn.calls?.length ?? 0;
      for (const batch of contentOf(turn, { firstId, chunkSize: turn.chunkSize ?? chunkSize })) {
        signal.throwIfAborted();
        yield batch;
      }
      if (turn.hang) await abortable(new Promise<never>(() => {}), signal);
      signal.throwIfAborted();
      if (turn.error !== undefined) throw errorOf(turn.error, name);
      if (!turn.breaksOff && !turn.chunks?.flat().some((chunk) => chunk.type === "end")) yield endOf(turn, request.model);
    },
  };
}

function* contentOf(turn: ScriptedTurn, options: { firstId: number; chunkSize: number }): Generator<readonly ModelChunk[]> {
  let index = 0;
  for (const type of ["thinking", "text"] as const) {
    const pieces = piecesOf(turn[type] ?? "", options.chunkSize);
    if (pieces.length === 0) continue;
    const isLast = (type === "text" || !turn.text) && !turn.calls?.length;
    for (const delta of pieces.slice(0, -1)) yield [{ type, index, delta }];
    const last: ModelChunk = { type, index, delta: pieces.at(-1) ?? "" };
    yield isLast && isCutOff(turn) ? [last] : [last, { type: "block-end", index }];
    index += 1;
  }
  let id = options.firstId;
  for (const call of turn.calls ?? []) {
    yield [{ type: "call-start", index, id: call.id ?? `call_${id}`, name: call.name }];
    id += 1;
    for (const delta of piecesOf(call.argsText ?? JSON.stringify(call.args ?? {}), options.chunkSize)) {
      yield [{ type: "call-args", index, delta }];
    }
    yield [{ type: "call-end", index }];
    index += 1;
  }
  yield* turn.chunks ?? [];
}

/** True if the stream breaks before its end: then its last block has no end either. */
function isCutOff({ hang, breaksOff, error }: ScriptedTurn): boolean {
  return hang === true || breaksOff === true || error !== undefined;
}

function endOf(turn: ScriptedTurn, model: string): readonly ModelChunk[] {
  const stopReason = turn.stopReason ?? (turn.calls?.length ? "tool_calls" : "stop");
  const end: ModelChunk = {
    type: "end",
    stopReason,
    raw: turn.stopReasonRaw ?? stopReason,
    model,
    ...(turn.message === undefined ? {} : { message: turn.message }),
  };
  return turn.usage ? [{ type: "usage", usage: turn.usage }, end] : [end];
}

function errorOf(error: Error | ErrorCode, provider: string): Error {
  return typeof error === "string" ? new AgentError(error, { message: `Provider \`${provider}\` failed as scripted.` }) : error;
}

function exhausted(provider: string, turnCount: number, call: number): AgentError {
  return new AgentError("CONFIG_INVALID", {
    message: `The script of provider \`${provider}\` is exhausted: it has ${turnCount} turns and was asked for number ${call}.`,
    fix: "Add a turn to the script, or find out why the model is called once more than expected.",
    details: { provider, turnCount, call },
  });
}
