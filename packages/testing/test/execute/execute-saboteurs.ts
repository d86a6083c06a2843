import type {
  AgentEvent,
  ApprovalDecision,
  ExecuteInput,
  ExecuteOptions,
  ExecuteResult,
  ExecuteStream,
  Message,
  ToolResultMessage,
} from "@loopwright/core";
import type { ExecutePlace, ExecuteUnderTest } from "../../src/execute/execute-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import { localExecution } from "./local-execution.ts";

type Execute = ExecutePlace["execute"];

const spoiled =
  (spoil: (execute: Execute) => Execute): Make<ExecuteUnderTest> =>
  async () => ({
    async serve(agent) {
      const place = await localExecution.serve(agent);
      return { ...place, execute: spoil(place.execute) };
    },
  });

const spoiledInput = (
  spoil: (input: ExecuteInput, options: ExecuteOptions) => readonly [ExecuteInput, ExecuteOptions],
): Make<ExecuteUnderTest> =>
  spoiled(
    (execute) =>
      (session, input, options = {}) =>
        execute(session, ...spoil(input, options)),
  );

const spoiledStream = (spoil: (stream: ExecuteStream, options: ExecuteOptions) => Partial<ExecuteStream>): Make<ExecuteUnderTest> =>
  spoiled((execute) => (session, input, options = {}) => {
    const stream = execute(session, input, options);
    const whole: ExecuteStream = {
      sessionId: stream.sessionId,
      result: () => stream.result(),
      abort: (reason) => stream.abort(reason),
      [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
    };
    return { ...whole, ...spoil(stream, options) };
  });

const spoiledDecision =
  (spoil: (decision: ApprovalDecision) => ApprovalDecision): Make<ExecuteUnderTest> =>
  async () => ({
    async serve(agent) {
      const place = await localExecution.serve(agent);
      return { ...place, decide: (session, callKey, decision) => place.decide(session, callKey, spoil(decision)) };
    },
  });

const spoiledResult = (spoil: (result: ExecuteResult) => ExecuteResult): Make<ExecuteUnderTest> =>
  spoiledStream((stream) => ({ result: async () => spoil(await stream.result()) }));

const spoiledEvents = (spoil: (event: AgentEvent) => readonly AgentEvent[]): Make<ExecuteUnderTest> =>
  spoiledStream((stream) => ({
    [Symbol.asyncIterator]() {
      const reader = stream[Symbol.asyncIterator]();
      const rest = async function* (): AsyncGenerator<AgentEvent, undefined> {
        for (let step = await reader.next(); !step.done; step = await reader.next()) yield* spoil(step.value);
        return undefined;
      };
      return rest();
    },
  }));

const isResults = (input: ExecuteInput): input is readonly ToolResultMessage[] => Array.isArray(input);

const without = <Key extends keyof ExecuteResult>(result: ExecuteResult, key: Key): ExecuteResult => {
  const { [key]: _, ...rest } = result;
  return rest as ExecuteResult;
};

const turnedRound = (messages: readonly Message[]): readonly Message[] => {
  const results = messages.filter(({ role }) => role === "tool_result").reverse();
  return messages.map((message) => (message.role === "tool_result" ? (results.shift() ?? message) : message));
};

/** An iterator that is over. */
const nothing = (): AsyncIterator<AgentEvent, undefined> => ({ next: async () => ({ value: undefined, done: true }) });

/** Defects of ways to run agents. */
export const executeSaboteurs: readonly Saboteur<ExecuteUnderTest>[] = [
  {
    defect: "forgets the key that results came with",
    breaks: ["client-repeated"],
    make: spoiledInput((input, { idempotencyKey, ...options }) => [
      input,
      { ...options, ...(Array.isArray(input) || idempotencyKey === undefined ? {} : { idempotencyKey }) },
    ]),
  },
  {
    defect: "looks at the key of a call alone",
    breaks: ["client-two-names"],
    make: spoiledInput((input, options) => [
      isResults(input) ? input.map((one) => (one.callKey === undefined ? one : { ...one, toolCallId: one.callKey })) : input,
      options,
    ]),
  },
  {
    defect: "forgets the last event",
    breaks: [
      "text",
      "first-words",
      "tools",
      "retry",
      "error",
      "late-reader",
      "client-waits",
      "client-goes-on",
      "approval-waits",
      "abort",
      "enqueue",
      "steer",
    ],
    make: spoiledEvents((event) => (event.type === "execute_complete" ? [] : [event])),
  },
  {
    defect: "breaks characters of several bytes",
    breaks: ["text"],
    make: spoiledEvents((event) => [event.type === "text_delta" ? { ...event, delta: event.delta.replace(/[^ -~]/g, "?") } : event]),
  },
  {
    defect: "comes late to every answer",
    breaks: ["first-words"],
    make: spoiledEvents((event) => (event.type === "text_delta" && event.delta.startsWith("At") ? [] : [event])),
  },
  {
    defect: "turns results round",
    breaks: ["tools"],
    make: spoiledResult((result) => ({ ...result, messages: turnedRound(result.messages) })),
  },
  {
    defect: "forgets what was spent",
    breaks: ["spending", "client-goes-on"],
    make: spoiledResult((result) => without(result, "usage")),
  },
  {
    defect: "hides attempts that failed",
    breaks: ["retry", "error"],
    make: spoiledEvents((event) => (event.type === "attempt_discarded" ? [] : [event])),
  },
  {
    defect: "rejects when a run fails",
    breaks: ["error"],
    make: spoiledStream((stream) => ({
      async result() {
        const result = await stream.result();
        if (result.status === "error") throw result.error;
        return result;
      },
    })),
  },
  { defect: "forgets limits", breaks: ["limit"], make: spoiledResult((result) => without(result, "limit")) },
  {
    defect: "reports nothing to a process that reads after the end",
    breaks: ["late-reader"],
    make: spoiledStream((stream) => {
      let isLate = false;
      return {
        async result() {
          const result = await stream.result();
          isLate = true;
          return result;
        },
        [Symbol.asyncIterator]: () => (isLate ? nothing() : stream[Symbol.asyncIterator]()),
      };
    }),
  },
  {
    defect: "lets in a second reader",
    breaks: ["one-reader"],
    make: spoiledStream((stream) => {
      let isRead = false;
      return {
        [Symbol.asyncIterator]() {
          const reader = isRead ? nothing() : stream[Symbol.asyncIterator]();
          isRead = true;
          return reader;
        },
      };
    }),
  },
  {
    defect: "does not give what waits",
    breaks: ["client-two-names", "client-waits"],
    make: spoiledResult((result) => without(result, "pendingToolCalls")),
  },
  {
    defect: "does not give what people are to decide on",
    breaks: ["approval-waits", "approval-allows", "approval-denies", "approval-again", "approval-refused"],
    make: spoiledResult((result) => without(result, "pendingApprovals")),
  },
  {
    defect: "forgets that anybody was asked",
    breaks: ["approval-waits"],
    make: spoiledEvents((event) => (event.type === "approval_requested" ? [] : [event])),
  },
  {
    defect: "loses what a decision edits",
    breaks: ["approval-allows", "approval-refused"],
    make: spoiledDecision(({ args: _, ...decision }) => decision),
  },
  {
    defect: "loses the note of a denial",
    breaks: ["approval-denies"],
    make: spoiledDecision(({ note: _, ...decision }) => decision),
  },
  {
    defect: "allows whatever is asked",
    breaks: ["approval-denies", "approval-again"],
    make: spoiledDecision((decision) => ({ ...decision, decision: "allow" })),
  },
  {
    defect: "does not show what was looked at",
    breaks: ["approval-refused"],
    make: spoiledDecision(({ argsDigest: _, ...decision }) => decision),
  },
  {
    defect: "takes failed client tools for good ones",
    breaks: ["client-error"],
    make: spoiledInput((input, options) => [
      Array.isArray(input) ? input.map((result) => ({ ...result, isError: false })) : input,
      options,
    ]),
  },
  {
    defect: "makes a result of every refusal",
    breaks: ["client-again", "client-repeated", "client-two-names", "key", "refused", "reject"],
    make: spoiledStream((stream) => ({
      result: () => stream.result().catch((error): ExecuteResult => ({ status: "error", messages: [], text: "", error })),
    })),
  },
  {
    defect: "loses the partial text",
    breaks: ["abort"],
    make: spoiledResult((result) => (result.status === "aborted" ? { ...result, text: "" } : result)),
  },
  {
    defect: "takes a signal for the end of a good run",
    breaks: ["signal"],
    make: spoiledStream((stream, { signal }) => ({
      result: async () => ({ ...(await stream.result()), ...(signal?.aborted ? { status: "completed" } : {}) }) as ExecuteResult,
    })),
  },
  {
    defect: "answers inputs in the wrong order",
    breaks: ["enqueue", "interrupt-first", "merge", "steer"],
    make: spoiledInput((input, options) => [input === "second" ? "first" : input === "first" ? "second" : input, options]),
  },
  {
    defect: "has an input that interrupts wait for those before it",
    breaks: ["interrupt-first"],
    make: spoiled((execute) => {
      const streams: ExecuteStream[] = [];
      return (session, input, { mode, ...options } = {}) => {
        const isUrgent = mode === "interrupt";
        if (isUrgent) void streams[0]?.abort();
        const stream = execute(session, input, mode === undefined || isUrgent ? options : { ...options, mode });
        streams.push(stream);
        return stream;
      };
    }),
  },
  {
    defect: "stops those that interrupt too",
    breaks: ["interrupt", "interrupt-first"],
    make: spoiledStream((stream, { mode }) => {
      if (mode === "interrupt") void stream.abort();
      return {};
    }),
  },
  {
    defect: "does not steer",
    breaks: ["steer"],
    make: spoiledInput((input, { mode, ...options }) => [input, mode === undefined || mode === "steer" ? options : { ...options, mode }]),
  },
  {
    defect: "does not merge",
    breaks: ["merge"],
    make: spoiledInput((input, { mode, ...options }) => [input, mode === undefined || mode === "merge" ? options : { ...options, mode }]),
  },
  {
    defect: "loses the key",
    breaks: ["client-repeated", "key"],
    make: spoiledInput((input, { idempotencyKey: _, ...options }) => [input, options]),
  },
  {
    defect: "keeps to one branch",
    breaks: ["branch"],
    make: spoiledInput((input, { parent: _, ...options }) => [input, options]),
  },
  {
    defect: "always asks the same model",
    breaks: ["merge", "model"],
    make: spoiledInput((input, { model: _, ...options }) => [input, options]),
  },
];
