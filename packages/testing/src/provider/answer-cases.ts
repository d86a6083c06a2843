import { expectSame, expectThat } from "../kit/kit.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { callCases, callsIn, twoCalls, wideText } from "./call-cases.ts";
import { chunkFlaws, collectAnswer } from "./collect-answer.ts";
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
} from "./provider-samples.ts";
import type { WireAnswer } from "./wire.ts";

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
    promise: "the text is what the wire sent, every piece of it, in its order",
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
