import type { ViewMessage } from "@loopwright/client";
import { type AssistantMessage, addCost, addUsage, type Cost, type Usage } from "@loopwright/core/protocol";

/** Time, tokens and cost of an answer, over all its turns. */
export interface AnswerFigures {
  readonly turns: number;
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** From the question, or of the model calls where the question was of an earlier run. */
  readonly durationMs?: number;
  readonly firstTokenMs?: number;
  /** Tokens written in a second, once the model had begun. */
  readonly speed?: number;
}

/** The figures of an answer; what is not known of every turn is absent. */
export function figuresOf(turns: readonly ViewMessage[], question: ViewMessage | undefined): AnswerFigures {
  const messages = turns.map(({ message }) => message).filter((message): message is AssistantMessage => message.role === "assistant");
  let usage: Usage | undefined;
  let cost: Cost | undefined;
  for (const message of messages) {
    usage = addUsage(usage, message.usage);
    cost = addCost(cost, message.cost);
  }
  const last = turns.at(-1);
  const timings = turns.flatMap((turn) => (turn.timings ? [turn.timings] : []));
  const calledMs = timings.length === turns.length ? timings.reduce((sum, { totalMs }) => sum + totalMs, 0) : undefined;
  const durationMs = question && last ? last.at - question.at : calledMs;
  const firstTokenMs = turns[0]?.timings?.firstTokenMs;
  const model = messages.at(-1)?.model;
  const speed = speedOf(turns);
  return {
    turns: turns.length,
    ...(model === undefined ? {} : { model }),
    ...(usage ? { usage } : {}),
    ...(cost ? { cost } : {}),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    ...(speed === undefined ? {} : { speed }),
  };
}

const shortestWritingMs = 50;

function speedOf(turns: readonly ViewMessage[]): number | undefined {
  let tokens = 0;
  let writingMs = 0;
  for (const { message, timings } of turns) {
    const output = message.role === "assistant" ? message.usage?.output : undefined;
    if (output === undefined || timings?.firstTokenMs === undefined) return undefined;
    tokens += output;
    writingMs += timings.totalMs - timings.firstTokenMs;
  }
  return writingMs < shortestWritingMs ? undefined : (tokens / writingMs) * 1000;
}
