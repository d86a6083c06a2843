import { isAgentError, type Message, type ModelRequest, type ToolResultMessage } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import { collectAnswer } from "./collect-answer.ts";
import { type ModelProviderCase, plainAnswer, playing, sampleRequest, sampleTool, withSubject } from "./provider-samples.ts";
import type { MakeModelProvider } from "./wire.ts";

/** The request as the wire saw it, as text; `undefined` where the provider refused it as MODEL_UNSUPPORTED before it sent anything. */
function wireTextOf(make: MakeModelProvider, more: Partial<ModelRequest>): Promise<string | undefined> {
  return withSubject(make, playing(plainAnswer), async (subject) => {
    try {
      await collectAnswer(subject.provider, sampleRequest(subject, more));
    } catch (error) {
      if (!isAgentError(error, "MODEL_UNSUPPORTED")) throw error;
      expectSame(subject.requests.length, 0, "requests of a refused call");
      return undefined;
    }
    const [request] = subject.requests;
    return `${request?.path} ${JSON.stringify(request?.body)}`;
  });
}

/** What is wished for is on the wire, or refused: never dropped in silence. */
async function expectOnWireOrRefused(make: MakeModelProvider, more: Partial<ModelRequest>, sign: string): Promise<void> {
  const text = await wireTextOf(make, more);
  expectThat(text === undefined || text.includes(sign), `${sign} is not in the request, and the request was not refused`);
}

/** The same for a wish that each vendor has its own word for: the request is another one than without it. */
async function expectChange(make: MakeModelProvider, base: Partial<ModelRequest>, wish: Partial<ModelRequest>): Promise<void> {
  const [without, changed] = [await wireTextOf(make, base), await wireTextOf(make, { ...base, ...wish })];
  expectThat(changed === undefined || changed !== without, "the request is the same as without it, and was not refused");
}

const otherTool = { ...sampleTool, name: "time_of" };

function resultOf(content: ToolResultMessage["content"], isError: boolean): readonly Message[] {
  const call = { type: "tool_call", callKey: "run.1.0", id: "call_one", name: "weather_of", args: { placeName: "Berlin" } } as const;
  return [
    { role: "user", content: "What is it like?" },
    { role: "assistant", content: [call], stopReason: "tool_calls" },
    {
      role: "tool_result",
      toolCallId: call.id,
      callKey: call.callKey,
      toolName: call.name,
      content,
      ...(isError ? { isError } : {}),
    },
  ];
}

/** Both forms of the wish: a vendor that knows one of them translates the other. */
const reasoningWishes: readonly NonNullable<ModelRequest["reasoning"]>[] = [{ effort: "high" }, { budgetTokens: 8_000 }];

const reasoningCases: readonly ModelProviderCase[] = [
  {
    id: "reasoning",
    promise: "a wish for reasoning reaches the wire, as an effort and as a number of tokens, or is MODEL_UNSUPPORTED",
    async run(make) {
      for (const reasoning of reasoningWishes) await expectChange(make, {}, { reasoning });
    },
  },
  {
    id: "reasoning-unknown",
    promise: "a wish for reasoning to a model that is unknown reaches the wire, or is MODEL_UNSUPPORTED",
    async run(make) {
      for (const reasoning of reasoningWishes) await expectChange(make, { model: "model-that-nobody-knows" }, { reasoning });
    },
  },
  {
    id: "reasoning-lacking",
    promise: "a wish for reasoning to a model that has none reaches the wire, or is MODEL_UNSUPPORTED",
    needs: ["unthinking"],
    async run(make) {
      const model = await withSubject(make, playing(plainAnswer), async ({ modelWithoutReasoning }) => modelWithoutReasoning);
      expectThat(model !== undefined, "the subject names no `modelWithoutReasoning`; without one it lacks `unthinking`");
      for (const reasoning of reasoningWishes) await expectChange(make, { model }, { reasoning });
    },
  },
];

/** What is asked of a call beside its messages: each wish reaches the wire or is MODEL_UNSUPPORTED. */
export const wishCases: readonly ModelProviderCase[] = [
  {
    id: "max-tokens",
    promise: "a limit of tokens reaches the wire, or is MODEL_UNSUPPORTED",
    run: (make) => expectOnWireOrRefused(make, { maxTokens: 4_321 }, "4321"),
  },
  {
    id: "output",
    promise: "the schema of an answer reaches the wire, or is MODEL_UNSUPPORTED",
    run: (make) => {
      const properties = { kit_answer_field: { type: "string" } };
      const schema = { type: "object", properties, required: ["kit_answer_field"], additionalProperties: false };
      return expectOnWireOrRefused(make, { output: { name: "kit_answer", schema } }, "kit_answer_field");
    },
  },
  {
    id: "tool-choice",
    promise: "a tool that has to be called is named on the wire, or is MODEL_UNSUPPORTED",
    run: (make) => expectChange(make, { tools: [sampleTool, otherTool] }, { toolChoice: { tool: "time_of" } }),
  },
  {
    id: "one-call",
    promise: "that only one tool may be called at once reaches the wire, or is MODEL_UNSUPPORTED",
    run: (make) => expectChange(make, { tools: [sampleTool, otherTool] }, { parallelToolCalls: false }),
  },
  {
    id: "cache-key",
    promise: "the key of the cache reaches the wire, the same for the same session and another for another",
    needs: ["cache-keys"],
    async run(make) {
      const keyed = (cacheKey: string): Promise<string | undefined> => wireTextOf(make, { cacheKey });
      const [first, again, other] = [await keyed("session-1"), await keyed("session-1"), await keyed("session-2")];
      expectSame(again, first, "the request of the same session");
      // Whether it is refused is checked by the next case.
      expectThat(first === undefined || first !== other, "the requests of two sessions are the same");
    },
  },
  {
    id: "cache-key-taken",
    promise: "the key of the cache is never refused: the runtime sends one with every call",
    async run(make) {
      expectThat((await wireTextOf(make, { cacheKey: "session-1" })) !== undefined, "the call was refused as MODEL_UNSUPPORTED");
    },
  },
  ...reasoningCases,
  {
    id: "notices",
    promise: "a notice between two turns reaches the wire",
    run: (make) => {
      const messages: readonly Message[] = [
        { role: "user", content: "What is it like?" },
        { role: "assistant", content: [{ type: "text", text: "It is fine." }], stopReason: "stop" },
        { role: "notice", text: "NOTICE-CANARY" },
        { role: "user", content: "And now?" },
      ];
      return expectOnWireOrRefused(make, { messages }, "NOTICE-CANARY");
    },
  },
  {
    id: "error-results",
    promise: "a result that is an error is marked as one, whatever it holds",
    async run(make) {
      for (const content of ["No such place.", "", [], [{ type: "json", value: { code: 7 } }]] as const) {
        const sent = (isError: boolean): Promise<string | undefined> =>
          wireTextOf(make, { messages: resultOf(content, isError), tools: [sampleTool] });
        const [good, failed] = [await sent(false), await sent(true)];
        expectThat(failed !== undefined, "the request was refused, and with it every later one of the session");
        expectThat(failed !== good, `the request is the same as with a good result of ${JSON.stringify(content)}`);
      }
    },
  },
];
