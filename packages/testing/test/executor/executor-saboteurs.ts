import { AgentError, type ModelChunk, type ModelProvider, type ModelRequest } from "@loopwright/core";
import type { ExecutorTurn, ExecutorUnderTest } from "../../src/executor/executor-kit.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import { scriptedExecutor } from "./scripted-executor.ts";

type Stream = ModelProvider["stream"];

/** An executor with another stream, beside the right one. */
const streaming = (defect: (stream: Stream) => Stream) => async (): Promise<ExecutorUnderTest> => {
  const right = scriptedExecutor();
  return {
    ...right,
    play: (turns) => {
      const provider = right.play(turns);
      return { ...provider, stream: defect((request, io) => provider.stream(request, io)) };
    },
  };
};

const changing =
  (change: (chunk: ModelChunk) => ModelChunk) =>
  (stream: Stream): Stream =>
    async function* (request, io) {
      for await (const chunks of stream(request, io)) yield chunks.map(change);
    };

const asked =
  (change: (request: ModelRequest) => ModelRequest) =>
  (stream: Stream): Stream =>
  (request, io) =>
    stream(change(request), io);

/** An executor whose turns are others. */
const playing = (change: (turn: ExecutorTurn) => ExecutorTurn) => async (): Promise<ExecutorUnderTest> => {
  const right = scriptedExecutor();
  return { ...right, play: (turns) => right.play(turns.map(change)), patienceMs: 1_000 };
};

/** An executor of which something stays at work after each call that `leaves` names. */
const leaving = (leaves: (turn: ExecutorTurn) => boolean) => async (): Promise<ExecutorUnderTest> => {
  const right = scriptedExecutor();
  let left = 0;
  return {
    play: (turns) => {
      left += turns.filter(leaves).length;
      return right.play(turns);
    },
    running: () => left,
    patienceMs: 20,
  };
};

/** Each session gets what the first one asked. */
const mixing = (stream: Stream): Stream => {
  let first: ModelRequest | undefined;
  return (request, io) => {
    first ??= { ...request, messages: [...request.messages] };
    return stream(first, io);
  };
};

const throwing =
  (error: () => Error) =>
  (stream: Stream): Stream =>
    async function* (request, io) {
      try {
        yield* stream(request, io);
      } catch (thrown) {
        throw io.signal.aborted ? thrown : error();
      }
    };

export const executorSaboteurs: readonly Saboteur<ExecutorUnderTest>[] = [
  {
    defect: "loses the letters that are no ASCII",
    breaks: ["answer", "tools"],
    make: streaming(changing((chunk) => (chunk.type === "text" ? { ...chunk, delta: chunk.delta.replace(/[^ -~\n]/g, "") } : chunk))),
  },
  {
    defect: "is sent the last message alone",
    breaks: ["history"],
    make: streaming(asked((request) => ({ ...request, messages: request.messages.slice(-1) }))),
  },
  {
    defect: "is sent no tools",
    breaks: ["history", "at-once"],
    make: streaming(asked(({ tools: _, ...request }) => request)),
  },
  {
    defect: "loses the arguments of calls",
    breaks: ["tools"],
    make: streaming(changing((chunk) => (chunk.type === "call-args" ? { ...chunk, delta: "" } : chunk))),
  },
  {
    defect: "reports no tokens",
    breaks: ["usage"],
    make: streaming(changing((chunk) => (chunk.type === "usage" ? { type: "alive" } : chunk))),
  },
  {
    defect: "reports tokens that it did not count as 0",
    breaks: ["usage"],
    make: playing((turn) => ({ ...turn, usage: turn.usage ?? { input: 0, output: 0 } })),
  },
  { defect: "mixes its sessions", breaks: ["history", "tools", "at-once"], make: streaming(mixing) },
  {
    defect: "ends well where it failed",
    breaks: ["failure"],
    make: playing((turn) => (turn.end === "failing" ? { ...turn, end: "well" } : turn)),
  },
  { defect: "fails with an error of no type", breaks: ["failure"], make: streaming(throwing(() => new Error("It failed."))) },
  {
    defect: "shows the question in its error",
    breaks: ["failure"],
    make: streaming(throwing(() => new AgentError("MODEL_BAD_REQUEST", { message: "It failed at: a question that stands in no error" }))),
  },
  {
    defect: "is asked again after a failure for good",
    breaks: ["failure"],
    make: streaming(throwing(() => new AgentError("MODEL_STREAM_BROKEN", { message: "It failed.", retryAfterMs: 1 }))),
  },
  { defect: "stays at work after an answer", breaks: ["answer"], make: leaving(({ text }) => text?.startsWith("Two lines") === true) },
  { defect: "stays at work after a failure", breaks: ["failure"], make: leaving(({ end }) => end === "failing") },
  { defect: "stays at work after a stop", breaks: ["abort"], make: leaving(({ end }) => end === "never") },
  {
    defect: "loses the text before a stop",
    breaks: ["abort"],
    make: playing((turn) => (turn.end === "never" ? { ...turn, text: "Half" } : turn)),
  },
];
