import { type Agent, createAgent, type ModelChunk } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { modelName, systemPrompt } from "../contenders/contender.ts";

const answer: readonly ModelChunk[] = [
  { type: "text", index: 0, delta: "Something more, then, and no less than what was said before it." },
  { type: "usage", usage: { input: 1_200, output: 40 } },
  { type: "end", stopReason: "stop", raw: "stop" },
];

/** Answers at once and looks at no message: what is left is the runtime, without the one serialisation of the request. */
const provider: ModelProvider = {
  name: "bench",
  defaultModel: modelName,
  capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
  async *stream(): AsyncGenerator<readonly ModelChunk[], void> {
    yield answer;
  },
};

export const benchAgent = (): Agent => createAgent({ name: "bench", provider, prompt: systemPrompt });
