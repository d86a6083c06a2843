import type { AssistantMessage, Message } from "@loopwright/core";
import type { CountedPart, TokenCounter } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";

/** A token counter and a model that it knows. */
export interface CounterUnderTest {
  readonly counter: TokenCounter;
  readonly model: string;
}

const sentence = "The quick brown fox jumps over the lazy dog, and then it rests. ";
const text = sentence.repeat(50);

const user = (content: Extract<Message, { role: "user" }>["content"]): Message => ({ role: "user", content });
const answer = (content: AssistantMessage["content"]): Message => ({ role: "assistant", content, stopReason: "stop" });
const calling = (args: { readonly text: string }): Message =>
  answer([{ type: "tool_call", id: "c", callKey: "r.1.0", name: "search", args }]);
const result = (content: Extract<Message, { role: "tool_result" }>["content"]): Message => ({
  role: "tool_result",
  toolCallId: "c",
  toolName: "search",
  content,
  isError: false,
});

/** Places where a text may stand in a message. */
const places: { readonly [place: string]: (text: string) => Message } = {
  "an input": (text) => user(text),
  "a part of an input": (text) => user([{ type: "text", text }]),
  "an answer": (text) => answer([{ type: "text", text }]),
  "the arguments of a call": (text) => calling({ text }),
  "a result": (text) => result(text),
  "a result of JSON": (text) => result([{ type: "json", value: { rows: [text] } }]),
};

const countOf = async ({ counter, model }: CounterUnderTest, part: CountedPart): Promise<number> => counter.count(model, part);

/** The promises of `TokenCounter`. */
export const tokenCounterKit: StoreKit<CounterUnderTest> = [
  {
    id: "number",
    promise: "a count is a finite number from 0 on, also of an empty text",
    async run(make) {
      const under = await make();
      for (const part of ["", sentence, ...Object.values(places).flatMap((at) => [at(""), at(sentence)])]) {
        const count = await countOf(under, part);
        expectThat(Number.isFinite(count) && count >= 0, `It counted ${count} for ${JSON.stringify(part)}.`);
      }
    },
  },
  {
    id: "same",
    promise: "the same part has the same count each time",
    async run(make) {
      const under = await make();
      for (const part of [text, user(text)])
        expectSame(await countOf(under, structuredClone(part)), await countOf(under, part), "the count");
    },
  },
  {
    id: "proportion",
    promise: "a text has more tokens than words are long, at most one a byte, and a text of many sentences the sum of them",
    async run(make) {
      const under = await make();
      const [one, fifty] = [await countOf(under, sentence), await countOf(under, text)];
      expectThat(one >= 8 && one <= sentence.length + 16, `One sentence has ${one} tokens.`);
      expectThat(fifty >= 40 * (one - 8) && fifty <= 55 * one, `Fifty sentences have ${fifty} tokens, one has ${one}.`);
    },
  },
  {
    id: "places",
    promise: "a text counts wherever it stands in a message",
    async run(make) {
      const under = await make();
      const alone = await countOf(under, text);
      for (const [place, at] of Object.entries(places)) {
        const added = (await countOf(under, at(text))) - (await countOf(under, at("")));
        expectThat(added >= alone * 0.8 && added <= alone * 1.3, `As ${place} the text adds ${added} tokens, alone it has ${alone}.`);
      }
    },
  },
  {
    id: "media",
    promise: "an image counts for what a model reads of it, not for the characters of its bytes",
    async run(make) {
      const under = await make();
      const count = await countOf(under, user([{ type: "image", mediaType: "image/png", source: { data: "A".repeat(1_000_000) } }]));
      expectThat(count > 0 && count < 50_000, `An image of 1 MB counts ${count} tokens.`);
    },
  },
];
