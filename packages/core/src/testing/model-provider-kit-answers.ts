import type { ToolCallPart } from "../message/content.ts";
import { expectSame, expectThat } from "./kit.ts";
import { chunkFlaws, collectAnswer } from "./model-provider-kit-collect.ts";
import {
  answerTo,
  callAnswer,
  type ModelProviderCase,
  patienceMs,
  plainAnswer,
  playing,
  sampleRequest,
  startCall,
  withSubject,
} from "./model-provider-kit-samples.ts";
import type { WireAnswer } from "./model-provider-kit-wire.ts";
import { expectSoon } from "./store-expectation.ts";

const wideText = "Grüße, 日本語, 👩‍👩‍👧 und e\u0301 \u{1f680}";
const wideJson = JSON.stringify({ placeName: `${wideText} "quoted" \\ back\nline`, deep: [{ a: [1, 2.5, null, true] }] });

/** Calls for which every piece counts: cut after 3 characters each, so also inside escapes. */
const piecedAnswer: WireAnswer = {
  calls: [{ id: "call_pieces", name: "weather_of", args: Array.from(wideJson.match(/[\s\S]{1,3}/gu) ?? []) }],
  stop: "tool_calls",
};

const twoCalls: WireAnswer = {
  calls: [
    { id: "call_a", name: "weather_of", args: ['{"placeName":', '"Bern"}'] },
    { id: "call_b", name: "time_of", args: ['{"zone":', '"CET"}'] },
  ],
  interleaved: true,
  stop: "tool_calls",
};

function callsIn(answer: { readonly parts: readonly { readonly type: string }[] }): readonly ToolCallPart[] {
  return answer.parts.filter((part): part is ToolCallPart => part.type === "tool_call");
}

function textIn(answer: { readonly parts: readonly { readonly type: string; readonly text?: string }[] }): string {
  return answer.parts.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

const orderCases: readonly ModelProviderCase[] = [
  {
    id: "one-end",
    promise: "an answer has exactly one end chunk and nothing comes after it",
    async run(make) {
      const types = (await answerTo(make, playing(callAnswer))).chunks.map(({ type }) => type);
      expectThat(types.indexOf("end") === types.length - 1, `the chunks were ${types.join(", ")}`);
    },
  },
  {
    id: "blocks",
    promise: "every chunk of a block carries its index, and a call begins before its arguments and ends after them",
    async run(make) {
      for (const answer of [callAnswer, twoCalls]) {
        const flaws = chunkFlaws((await answerTo(make, playing(answer))).chunks);
        const ofBlocks = flaws.filter((flaw) => !flaw.includes("end chunk"));
        expectThat(ofBlocks.length === 0, ofBlocks.join("; "));
      }
    },
  },
  {
    id: "text",
    promise: "the text is what the wire said, every piece of it, in its order",
    async run(make) {
      const { answer } = await answerTo(make, playing({ text: ["ha", "ha", "ha", ", ", "ha"], stop: "stop" }));
      expectSame(textIn(answer), "hahaha, ha", "text");
    },
  },
  {
    id: "as-it-comes",
    promise: "text is handed on when it comes, not when more has come",
    async run(make) {
      await withSubject(make, playing(plainAnswer, "text"), async (subject) => {
        let seen = "";
        const call = startCall(subject, {
          onBatch: (batch) => {
            for (const chunk of batch) if (chunk.type === "text") seen += chunk.delta;
          },
        });
        await expectSoon(() => seen !== "", { what: "the first text is handed on", withinMs: subject.patienceMs ?? patienceMs });
        subject.release();
        await call;
      });
    },
  },
  {
    id: "thinking",
    promise: "thinking is kept apart from the text and stands before it",
    needs: ["thinking"],
    async run(make) {
      const { answer } = await answerTo(make, playing({ ...plainAnswer, thinking: { pieces: ["Let me ", "think."] } }));
      const blocks = answer.parts.map((part) => ("text" in part ? [part.type, part.text] : [part.type]));
      expectSame(
        blocks,
        [
          ["thinking", "Let me think."],
          ["text", "Good morning."],
        ],
        "blocks",
      );
    },
  },
  {
    id: "unicode",
    promise: "characters that are cut anywhere between two reads come out whole",
    async run(make) {
      const { answer } = await answerTo(make, { type: "answer", answer: { text: [wideText], stop: "stop" }, chunking: "byte" });
      expectSame(textIn(answer), wideText, "text");
    },
  },
  {
    id: "cut-pair",
    promise: "a surrogate pair that is cut between two pieces comes out whole when they are joined, in text and in arguments",
    async run(make) {
      const [first, second] = ["\ud83d", "\ude80"];
      const { answer } = await answerTo(make, playing({ text: ["Up ", first, `${second} we go`], stop: "stop" }));
      expectSame(textIn(answer), "Up \u{1f680} we go", "text");
      const args = ['{"placeName":"', first, `${second}"}`];
      const called = await answerTo(make, playing({ calls: [{ id: "call_pair", name: "weather_of", args }], stop: "tool_calls" }));
      expectSame(callsIn(called.answer)[0]?.args, { placeName: "\u{1f680}" }, "arguments");
    },
  },
  {
    id: "unstreamed",
    promise: "a call with `stream: false` gives the same message as a streamed one",
    needs: ["unstreamed"],
    async run(make) {
      const streamed = await answerTo(make, playing(callAnswer));
      const unstreamed = await answerTo(make, playing(callAnswer), { stream: false });
      expectSame(unstreamed.answer, streamed.answer, "the answer");
    },
  },
  {
    id: "at-once",
    promise: "calls of one provider that run at once do not mix",
    async run(make) {
      await withSubject(make, playing(callAnswer), async (subject) => {
        const answers = await Promise.all([1, 2, 3].map(() => collectAnswer(subject.provider, sampleRequest(subject))));
        for (const { answer } of answers)
          expectSame([textIn(answer), callsIn(answer)[0]?.args], ["Let me see.", { placeName: "Berlin" }], "answer");
      });
    },
  },
];

const callCases: readonly ModelProviderCase[] = [
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
];

function endCase(stop: WireAnswer["stop"], stopReason: string, promise: string): ModelProviderCase {
  return {
    id: `end-${stop}`,
    promise,
    ...(stop === "refusal" ? { needs: ["refusal"] } : {}),
    async run(make) {
      const { answer } = await answerTo(make, playing({ ...(stop === "tool_calls" ? callAnswer : plainAnswer), stop }));
      expectSame(answer.ended?.stopReason, stopReason, "stop reason");
      if (stop === "refusal") expectThat((answer.ended?.message ?? "").length > 0, "the end has no message for a person");
    },
  };
}

const endCases: readonly ModelProviderCase[] = [
  endCase("stop", "stop", "an answer that the model ended has the stop reason `stop`"),
  endCase("length", "length", "an answer that hit the token limit has the stop reason `length`"),
  endCase("tool_calls", "tool_calls", "an answer that asks for tools has the stop reason `tool_calls`"),
  endCase("refusal", "error", "a refusal has the stop reason `error` and a message for a person"),
  {
    id: "raw",
    promise: "the vendor's own word for the end is kept",
    async run(make) {
      expectThat(Boolean((await answerTo(make, playing(plainAnswer))).answer.ended?.raw), "`raw` is missing");
    },
  },
  {
    id: "usage",
    promise: "tokens are reported where the wire reports them",
    async run(make) {
      const { usage } = (await answerTo(make, playing(plainAnswer))).answer;
      expectSame([usage?.input, usage?.output], [11, 5], "input and output");
    },
  },
  {
    id: "usage-apart",
    promise: "tokens read from a cache are not counted as input a second time",
    needs: ["cache-usage"],
    async run(make) {
      const { usage } = (await answerTo(make, playing({ ...plainAnswer, usage: { input: 7, cacheRead: 64, output: 30 } }))).answer;
      expectSame([usage?.input, usage?.cacheRead], [7, 64], "input and cache read");
    },
  },
  {
    id: "usage-unknown",
    promise: "counts that the wire does not report are absent, not 0",
    async run(make) {
      const { usage = {} } = (await answerTo(make, playing({ text: ["Hi."], stop: "stop" }))).answer;
      expectSame(
        [usage.input, usage.cacheRead, usage.cacheWrite, usage.output, usage.reasoning],
        [undefined, undefined, undefined, undefined, undefined],
        "counts",
      );
    },
  },
];

/** What a provider makes of answers that come as they should. */
export const answerCases: readonly ModelProviderCase[] = [...orderCases, ...callCases, ...endCases];
