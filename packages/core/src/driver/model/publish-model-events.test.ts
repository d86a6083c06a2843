import { expect, it } from "vitest";
import { createAssembler } from "../../message/assemble-message.ts";
import type { ModelChunk } from "../../message/chunk.ts";
import { createModelPublisher } from "./publish-model-events.ts";

const text = (delta: string, index = 0): ModelChunk => ({ type: "text", index, delta });

it("publishes the rest of an answer whose beginning had no subscriber", () => {
  const assembler = createAssembler();
  const publisher = createModelPublisher(assembler);
  const take = (chunks: readonly ModelChunk[]): readonly ModelChunk[] => {
    for (const chunk of chunks) assembler.push(chunk);
    return chunks;
  };
  expect(publisher.passOver(take([text("Rain "), text("in ")]))).toBe(true);
  expect(publisher.publish(take([text("Ulm.")]))).toEqual([{ type: "text_delta", index: 0, delta: "Ulm." }]);
  expect(publisher.passOver(take([{ type: "call-start", index: 1, name: "look" }]))).toBe(true);
  expect(publisher.publish(take([text("more")]))).toEqual([]);
  expect(publisher.passOver([{ type: "alive" }])).toBe(false);
  const [call] = publisher.finish([{ type: "tool_call", id: "c", callKey: "r.1.0", name: "look", args: {} }]).slice(-1);
  expect(call).toMatchObject({ type: "toolcall_end", index: 1 });
});
