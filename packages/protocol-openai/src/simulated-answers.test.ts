import { type AgentEvent, type ExecuteStream, textOf } from "@loopwright/core/protocol";
import { type SimulatedExecution, simulatedRuns } from "@loopwright/testing";
import fc from "fast-check";
import OpenAI, { APIError } from "openai";
import type { Response as OpenAiResponse } from "openai/resources/responses/responses";
import { expect, it } from "vitest";
import { chatStream } from "./chat-stream.ts";
import { responseStream } from "./response-stream.ts";

const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });
// The same sessions in each run of the tests.
const simulated = { numRuns: 14, seed: 16 };
const callersTools: ReadonlySet<string> = new Set(["client", "slow_client"]);

/** The SDK, which gets this answer to each request. */
const sdkOf = (answer: () => Response): OpenAI => new OpenAI({ apiKey: "none", maxRetries: 0, fetch: async () => answer() });

/** An execution as the routes have it. */
const streamOf = ({ result }: SimulatedExecution): ExecuteStream =>
  ({ sessionId: "simulated", result: async () => result, abort: async () => false }) as unknown as ExecuteStream;

async function* given(events: readonly AgentEvent[]): AsyncGenerator<AgentEvent, void> {
  yield* events;
}

/** The texts of the answers. */
const textsOf = ({ result }: SimulatedExecution): readonly string[] =>
  result.messages.flatMap((message) => (message.role === "assistant" ? [textOf(message)] : [])).filter((text) => text !== "");

/** The calls that the caller of an execution is asked for. */
const askedOf = ({ result }: SimulatedExecution): readonly string[] =>
  result.status === "awaiting_tool_execution"
    ? result.pendingToolCalls.flatMap(({ toolName, session }) => (session === undefined && callersTools.has(toolName) ? [toolName] : []))
    : [];

it("gives a stream of chat completions of each execution of any simulated run that the SDK accepts, with its texts and its calls", async () => {
  const seen = { whole: 0, asked: 0, noted: 0, withdrawn: 0, failed: 0 };
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      for (const execution of simulatedRuns(seed).flatMap(({ executions }) => executions)) {
        const { result, events } = execution;
        const head = { id: "chatcmpl-simulated", created: 1, model: "helper" };
        const answer = (): Response =>
          chatStream({
            ...{ head, stream: streamOf(execution), events: given(events), tools: callersTools },
            ...{ isFormed: false, includesUsage: true, stopsWhenLeft: false },
          });
        const stream = sdkOf(answer).chat.completions.stream({ model: "helper", messages: [{ role: "user", content: "Go." }] });
        const read = await stream.finalChatCompletion().catch((error: unknown) => {
          if (error instanceof APIError) return error;
          throw error;
        });
        if (read instanceof APIError) {
          const { code } = read;
          if (code === "answer_withdrawn") {
            // Text was sent that is in no answer: an attempt was discarded, or its end has another text than its stream.
            expect(events.some(({ type }) => type === "attempt_discarded" || type === "text_delta" || type === "message_snapshot")).toBe(
              true,
            );
            seen.withdrawn += 1;
          } else {
            expect(result.error?.code).toBe(code);
            seen.failed += 1;
          }
          continue;
        }
        const [choice] = read.choices;
        const calls = (choice?.message.tool_calls ?? []).map((call) => (call.type === "function" ? call.function.name : ""));
        const text = textsOf(execution).join("\n\n");
        expect(calls).toEqual(askedOf(execution));
        if (result.status === "awaiting_tool_execution" && calls.length === 0) {
          const note = (choice?.message.content ?? "").slice(text.length);
          expect(choice?.message.content).toBe(`${text}${note}`);
          expect(note).toContain("[The run waits for ");
          seen.noted += 1;
        } else {
          expect(choice?.message.content ?? "").toBe(text);
          expect(choice?.finish_reason).toBe(calls.length > 0 ? "tool_calls" : result.finishReason === "length" ? "length" : "stop");
          seen[calls.length > 0 ? "asked" : "whole"] += 1;
        }
      }
    }),
    simulated,
  );
  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  expect(seen.whole).toBeGreaterThan(seen.withdrawn);
});

it("gives a stream of a response of each execution of any simulated run that the SDK accepts, with its texts and its calls", async () => {
  const statuses = new Set<string>();
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      for (const execution of simulatedRuns(seed).flatMap(({ executions }) => executions)) {
        const { events, result } = execution;
        const seq = events.flatMap((event) => ("seq" in event ? [event.seq] : []))[0] ?? 1;
        const head = { id: `resp_simulated.run.${seq}`, createdAt: 0, model: "helper" };
        const answer = (): Response => responseStream({ head, seq, isFormed: false, stream: streamOf(execution), events: given(events) });
        let last: OpenAiResponse | undefined;
        let number = -1;
        for await (const event of sdkOf(answer).responses.stream({ model: "helper", input: "Go." })) {
          expect(event.sequence_number).toBeGreaterThan(number);
          number = event.sequence_number;
          if ("response" in event) last = event.response as OpenAiResponse;
        }
        const texts = (last?.output ?? []).flatMap((item) =>
          item.type === "message" ? item.content.map((part) => (part.type === "output_text" ? part.text : "")) : [],
        );
        const calls = (last?.output ?? []).flatMap((item) => (item.type === "function_call" ? [item.name] : []));
        const recorded = result.messages.flatMap((message) =>
          message.role === "assistant"
            ? message.content.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : []))
            : [],
        );
        const isNoted = result.status === "awaiting_tool_execution" && calls.length === 0;
        expect(isNoted ? texts.slice(0, -1) : texts).toEqual(recorded);
        if (result.status === "awaiting_tool_execution")
          expect(calls.length > 0 || texts.at(-1)?.includes("[The run waits for ")).toBe(true);
        expect(calls.length).toBe(askedOf(execution).length);
        statuses.add(last?.status ?? "none");
      }
    }),
    simulated,
  );
  expect([...statuses].sort()).toEqual(["cancelled", "completed", "failed"]);
});
