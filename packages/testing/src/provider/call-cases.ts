import type { ToolCallPart } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import { answerTo, callAnswer, type ModelProviderCase, playing } from "./provider-samples.ts";
import type { MakeModelProvider, WireAnswer } from "./wire.ts";

export const wideText = "Grüße, 日本語, 👩‍👩‍👧 und e\u0301 \u{1f680}";
const wideJson = JSON.stringify({ placeName: `${wideText} "quoted" \\ back\nline`, deep: [{ a: [1, 2.5, null, true] }] });

/** Calls for which every piece counts: cut after 3 characters each, so also inside escapes. */
const piecedAnswer: WireAnswer = {
  calls: [{ id: "call_pieces", name: "weather_of", args: Array.from(wideJson.match(/[\s\S]{1,3}/gu) ?? []) }],
  stop: "tool_calls",
};

/** Two calls whose pieces alternate. */
export const twoCalls: WireAnswer = {
  calls: [
    { id: "call_a", name: "weather_of", args: ['{"placeName":', '"Bern"}'] },
    { id: "call_b", name: "time_of", args: ['{"zone":', '"CET"}'] },
  ],
  interleaved: true,
  stop: "tool_calls",
};

/** The calls of an answer, in order. */
export function callsIn(answer: { readonly parts: readonly { readonly type: string }[] }): readonly ToolCallPart[] {
  return answer.parts.filter((part): part is ToolCallPart => part.type === "tool_call");
}

/** The only call of an answer that ends as the wire ends it. */
async function callOf(
  make: MakeModelProvider,
  args: readonly string[],
  stop: WireAnswer["stop"] = "tool_calls",
): Promise<readonly unknown[]> {
  const answer: WireAnswer = { calls: [{ id: "call_only", name: "weather_of", args }], stop };
  const [call] = callsIn((await answerTo(make, playing(answer))).answer);
  return [call?.problem, call?.args, call?.argsText];
}

/** What a provider makes of the calls in an answer. */
export const callCases: readonly ModelProviderCase[] = [
  {
    id: "call",
    promise: "a call has the id, the name and the arguments that the wire gave it",
    async run(make) {
      const [call] = callsIn((await answerTo(make, playing(callAnswer))).answer);
      expectSame([call?.name, call?.args, call?.problem], ["weather_of", { placeName: "Berlin" }, undefined], "the call");
    },
  },
  {
    id: "call-id",
    promise: "a call keeps the id that the wire gave it",
    needs: ["call-ids"],
    async run(make) {
      expectSame(callsIn((await answerTo(make, playing(callAnswer))).answer)[0]?.id, "call_one", "the id");
    },
  },
  {
    id: "empty-arguments",
    promise: "a call without arguments has an empty object of them",
    async run(make) {
      const answer: WireAnswer = { calls: [{ id: "call_none", name: "weather_of", args: [] }], stop: "tool_calls" };
      const [call] = callsIn((await answerTo(make, playing(answer))).answer);
      expectSame([call?.name, call?.args, call?.problem], ["weather_of", {}, undefined], "the call");
    },
  },
  {
    id: "many-pieces",
    promise: "arguments in many small pieces are joined as they were sent",
    async run(make) {
      const [call] = callsIn((await answerTo(make, playing(piecedAnswer))).answer);
      expectSame(call?.args, JSON.parse(wideJson), "arguments");
    },
  },
  {
    id: "parallel-calls",
    promise: "the arguments of parallel calls do not mix, however their pieces alternate",
    async run(make) {
      const calls = callsIn((await answerTo(make, playing(twoCalls))).answer).map(({ name, args }) => [name, args]);
      expectSame(
        calls,
        [
          ["weather_of", { placeName: "Bern" }],
          ["time_of", { zone: "CET" }],
        ],
        "calls",
      );
    },
  },
  {
    id: "broken-arguments",
    promise: "arguments that are no JSON are kept as they were sent and marked, not replaced",
    needs: ["raw-arguments"],
    async run(make) {
      const answer: WireAnswer = { calls: [{ id: "call_bad", name: "weather_of", args: ['{"placeName":', "oops}"] }], stop: "tool_calls" };
      const [call] = callsIn((await answerTo(make, playing(answer))).answer);
      expectSame([call?.problem, call?.argsText], ["invalid_json", '{"placeName":oops}'], "the call");
    },
  },
  {
    id: "cut-arguments",
    promise: "arguments that the token limit has cut off are kept as they were sent and marked, not completed",
    needs: ["raw-arguments"],
    async run(make) {
      const cut = '{"placeName":"Ber';
      const [problem, ...call] = await callOf(make, [cut.slice(0, 9), cut.slice(9)], "length");
      expectThat(problem !== undefined, "the call is taken for a whole one");
      expectSame(call, [{}, cut], "arguments and text");
    },
  },
  {
    id: "no-object",
    promise: "arguments that are JSON and no object are kept as they were sent and marked, in text as in a value",
    async run(make) {
      for (const text of ['["Berlin"]', "12"])
        expectSame(await callOf(make, [text]), ["not_an_object", {}, text], "problem, arguments and text");
    },
  },
];
