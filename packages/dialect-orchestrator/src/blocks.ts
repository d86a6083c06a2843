import { type Message, textOf } from "@loopwright/core/protocol";
import { stepIcons, stepTitles } from "./read-session.ts";

/** Which tools' calls and results a view of a session has. */
export interface BlockPolicy {
  /** Only these. Default: all. */
  readonly tools?: readonly string[];
  /** None of these. */
  readonly without?: readonly string[];
}

export interface BlockStep {
  readonly title: string;
  readonly icon: string;
  readonly state: "ended";
  readonly isFailed?: true;
}

/** The blocks of answers, as a screen that reloads shows them. */
export type Block =
  | {
      readonly type: "TEXT";
      readonly text: string;
      readonly toolCalls: readonly { readonly toolCallId: string; readonly function: string; readonly args: unknown }[];
      /** Tokens of the answer, where the vendor counted them. */
      readonly tokens?: number;
      readonly reasoning?: { readonly content: string; readonly tokens?: number };
    }
  | {
      readonly type: "PROGRESS";
      readonly name: string;
      readonly icon: string;
      readonly steps: readonly BlockStep[];
      readonly metadata: { readonly toolCallIds: readonly string[] };
    }
  | {
      readonly type: "TOOL_RESULT";
      readonly results: readonly {
        readonly toolCallId: string;
        readonly function: string;
        readonly content: Extract<Message, { role: "tool_result" }>["content"];
        readonly isError?: true;
      }[];
    };

/** The answers of a conversation as blocks, in order. A call and its result are both there or both left out. */
export function blocksOf(messages: readonly Message[], policy: BlockPolicy = {}): readonly Block[] {
  const keeps = (tool: string): boolean => policy.tools?.includes(tool) !== false && policy.without?.includes(tool) !== true;
  return messages.flatMap((message, at) => {
    if (message.role !== "assistant") return [];
    const calls = message.content.flatMap((part) => (part.type === "tool_call" && keeps(part.name) ? [part] : []));
    const next = messages.findIndex((one, index) => index > at && one.role === "assistant");
    const results = messages.slice(at + 1, next === -1 ? undefined : next).flatMap((one) => {
      const call =
        one.role === "tool_result" ? calls.find(({ id, callKey }) => one.callKey === callKey || one.toolCallId === id) : undefined;
      return call && one.role === "tool_result" ? [{ call, result: one }] : [];
    });
    return [
      ...textBlock(message, calls),
      ...progressBlock(
        calls,
        results.filter(({ result }) => isFailed(result)).map(({ call }) => call.id),
      ),
      ...resultBlock(results),
    ];
  });
}

/** The turns with calls, numbered from 1, each call with its result. */
export interface ToolIteration {
  readonly iteration: number;
  readonly toolCalls: readonly {
    readonly name: string;
    readonly args: unknown;
    readonly result?: Extract<Message, { role: "tool_result" }>["content"];
  }[];
}

/** The turns of a conversation that called tools, in order. */
export function toolIterationsOf(messages: readonly Message[]): readonly ToolIteration[] {
  const results = messages.flatMap((message) => (message.role === "tool_result" ? [message] : []));
  const turns = messages.flatMap((message) => {
    const calls = message.role === "assistant" ? message.content.flatMap((part) => (part.type === "tool_call" ? [part] : [])) : [];
    return calls.length > 0 ? [calls] : [];
  });
  return turns.map((calls, at) => ({
    iteration: at + 1,
    toolCalls: calls.map(({ name, args, callKey }) => {
      const result = results.find((one) => one.callKey === callKey);
      return { name, args, ...(result ? { result: result.content } : {}) };
    }),
  }));
}

type Assistant = Extract<Message, { readonly role: "assistant" }>;
type Result = Extract<Message, { readonly role: "tool_result" }>;
type CallPart = Extract<Assistant["content"][number], { readonly type: "tool_call" }>;

const isFailed = ({ isError, outcome }: Result): boolean => isError === true || (outcome !== undefined && outcome !== "ok");

function textBlock(message: Assistant, calls: readonly CallPart[]): readonly Block[] {
  const thinking = message.content.map((part) => (part.type === "thinking" ? part.text : "")).join("");
  const text = textOf(message);
  if (text === "" && thinking === "" && calls.length === 0) return [];
  const { output, reasoning } = message.usage ?? {};
  return [
    {
      type: "TEXT",
      toolCalls: calls.map(({ id, name, args }) => ({ toolCallId: id, function: name, args })),
      text,
      ...(output === undefined ? {} : { tokens: output }),
      ...(thinking === "" ? {} : { reasoning: { content: thinking, ...(reasoning === undefined ? {} : { tokens: reasoning }) } }),
    },
  ];
}

function progressBlock(calls: readonly CallPart[], failed: readonly string[]): readonly Block[] {
  if (calls.length === 0) return [];
  const { selecting: name, generating } = stepTitles;
  const steps = calls.map(
    ({ id }): BlockStep => ({
      title: generating,
      icon: stepIcons.generating,
      state: "ended",
      ...(failed.includes(id) ? { isFailed: true as const } : {}),
    }),
  );
  return [
    {
      type: "PROGRESS",
      name,
      icon: stepIcons.selecting,
      steps: [{ title: name, icon: stepIcons.selecting, state: "ended" }, ...steps],
      metadata: { toolCallIds: calls.map(({ id }) => id) },
    },
  ];
}

function resultBlock(results: readonly { readonly call: CallPart; readonly result: Result }[]): readonly Block[] {
  if (results.length === 0) return [];
  return [
    {
      type: "TOOL_RESULT",
      results: results.map(({ call, result }) => ({
        toolCallId: call.id,
        function: call.name,
        content: result.content,
        ...(isFailed(result) ? { isError: true as const } : {}),
      })),
    },
  ];
}
