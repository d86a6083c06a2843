import { type Assembled, isAgentError, type ToolCallPart, type Usage, vendorMessageOf } from "@loopwright/core";
import { differenceOf } from "@loopwright/testing";
import type { RecordedCall, RecordedTruth, Recording } from "./recording.ts";

/** The differences between an answer and the recording, as sentences; empty when they agree. Signatures are looked for in the opaque data. */
export function truthDifferences(answer: Assembled, recording: Recording): readonly string[] {
  const { truth } = recording;
  const differences: string[] = [];
  const compare = (what: string, got: unknown, wanted: unknown): void => {
    const difference = differenceOf(got, wanted, what);
    if (difference !== undefined) differences.push(difference);
  };
  if (truth.error && !truth.error.midStream) return [`expected the error ${shown(truth.error.message)}, got an answer`];
  compare("text", joined(answer, "text"), truth.text);
  compare("thinking", joined(answer, "thinking"), truth.thinking);
  const calls = answer.parts.filter((part) => part.type === "tool_call");
  compare("number of tool calls", calls.length, truth.toolCalls.length);
  truth.toolCalls.forEach((wanted, at) => {
    const got = calls[at];
    if (got) differences.push(...callDifferences(got, wanted, at));
  });
  compare("finish reason", answer.ended?.raw ?? null, truth.finishReasonRaw);
  differences.push(...endDifferences(answer, truth), ...usageDifferences(answer.usage, truth.usage));
  const opaque = JSON.stringify(answer.parts);
  for (const signature of truth.signatures ?? []) {
    if (signature !== "" && !opaque.includes(JSON.stringify(signature).slice(1, -1)))
      differences.push(`the signature ${shown(signature)} is lost`);
  }
  return differences;
}

function joined(answer: Assembled, type: "text" | "thinking"): string {
  let text = "";
  for (const part of answer.parts) if (part.type === type) text += part.text;
  return text;
}

function callDifferences(got: ToolCallPart, wanted: RecordedCall, at: number): readonly string[] {
  const differences: string[] = [];
  const compare = (what: string, actual: unknown, expected: unknown): void => {
    const difference = differenceOf(actual, expected, `${what} of call ${at}`);
    if (difference !== undefined) differences.push(difference);
  };
  compare("name", got.name, wanted.name);
  if (wanted.id !== undefined) compare("id", got.id, wanted.id);
  if (wanted.argumentsInvalidJson) {
    compare("raw arguments", got.argsText, wanted.arguments);
    compare("whether there is a problem with the arguments", got.problem !== undefined, true);
  } else {
    compare("arguments", got.args, wanted.custom ? { input: wanted.input } : (wanted.arguments ?? {}));
    compare("problem", got.problem, undefined);
  }
  return differences;
}

const lengthReasons: ReadonlySet<string> = new Set([
  "length",
  "max_tokens",
  "MAX_TOKENS",
  "incomplete:max_output_tokens",
  "model_context_window_exceeded",
]);

function endDifferences(answer: Assembled, truth: RecordedTruth): readonly string[] {
  const { ended } = answer;
  if (!ended) return ["there is no end chunk"];
  const written = truth.refusal ?? truth.promptBlockReason ?? truth.error?.message;
  if (written !== undefined) {
    if (ended.stopReason !== "error") return [`stop reason: expected error for ${shown(written)}, got ${ended.stopReason}`];
    return ended.message?.includes(written.slice(0, 100))
      ? []
      : [`message of the end: expected ${shown(written)}, got ${shown(ended.message)}`];
  }
  const raw = truth.finishReasonRaw ?? "";
  if (lengthReasons.has(raw))
    return ended.stopReason === "length" ? [] : [`stop reason: expected length for ${raw}, got ${ended.stopReason}`];
  if (ended.stopReason === "error") return ended.message ? [] : ["an end with stop reason error has no message"];
  if (truth.toolCalls.length > 0 && ended.stopReason !== "tool_calls") return [`stop reason: expected tool_calls, got ${ended.stopReason}`];
  return [];
}

function usageDifferences(got: Usage | undefined, wanted: RecordedTruth["usage"]): readonly string[] {
  const sum = (counts: readonly (number | undefined)[]): number | undefined =>
    counts.every((count) => count === undefined) ? undefined : counts.reduce<number>((total, count) => total + (count ?? 0), 0);
  const pairs: readonly (readonly [string, number | undefined, number | null | undefined])[] = [
    ["everything read", sum([got?.input, got?.cacheRead, got?.cacheWrite]), wanted?.inputTotal],
    ["cache read", got?.cacheRead, wanted?.cachedInput],
    ["cache write", got?.cacheWrite, wanted?.cacheWrite],
    ["everything written", got?.output, wanted?.outputTotal],
    ["reasoning", got?.reasoning, wanted?.reasoning],
  ];
  return pairs
    .filter(([, actual, expected]) => actual !== (expected ?? undefined))
    .map(([what, actual, expected]) => `usage, ${what}: expected ${shown(expected)}, got ${shown(actual)}`);
}

/** The differences between an error and the recorded one; empty when its code fits and it holds the vendor's message. */
export function errorDifferences(error: unknown, recording: Recording): readonly string[] {
  const { truth } = recording;
  if (!isAgentError(error))
    return [`expected an AgentError, got ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`];
  if (!truth.error) return [`expected an answer, got ${error.code}: ${error.message}`];
  const differences: string[] = [];
  const fitting = fittingCodes(truth.error.status, truth.error.message);
  if (fitting && !fitting.includes(error.code)) differences.push(`code: expected ${fitting.join(" or ")}, got ${error.code}`);
  // A key that the vendor repeats is taken out, so only the words before it can be asked for.
  const words = truth.error.message.slice(0, 24);
  const written = vendorMessageOf(error);
  if (!written?.includes(words)) differences.push(`for the operator: expected the vendor's own ${shown(words)}, got ${shown(written)}`);
  if (error.message.includes(words)) differences.push(`the vendor's own words are in the message: ${shown(error.message)}`);
  if (error.code === "MODEL_AUTH" && error.retryable) differences.push("an error of authentication is called retryable");
  return differences;
}

function fittingCodes(status: number | undefined, message: string): readonly string[] | undefined {
  switch (status) {
    case undefined:
      return undefined;
    case 400:
      if (/too long|too many tokens|context length/i.test(message)) return ["CONTEXT_OVERFLOW"];
      if (/api key/i.test(message)) return ["MODEL_AUTH"];
      return /does not exist/.test(message) ? ["MODEL_NOT_FOUND"] : ["MODEL_BAD_REQUEST"];
    case 401:
    case 403:
      return ["MODEL_AUTH"];
    case 404:
      return ["MODEL_NOT_FOUND"];
    case 429:
      return ["MODEL_RATE_LIMITED", "MODEL_QUOTA_EXHAUSTED"];
    default:
      return ["MODEL_OVERLOADED"];
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 200 ? `${text.slice(0, 200)}… (${text.length} characters)` : text;
}
