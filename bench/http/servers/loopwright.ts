import { setTimeout as wait } from "node:timers/promises";
import { type Agent, createAgent, defineTool, type ModelChunk } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { openai } from "@loopwright/providers-openai";
import { createServer, type ServerLimits } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { modelName, systemPrompt } from "../../contenders/contender.ts";
import { textPieces } from "../../server/script.ts";
import { benchTools, emptyRecord } from "../../tools.ts";
import { paceOf, type Serve, type ServeSettings, watchedSession } from "../served.ts";

const most = 1_000_000;

/** Over everything that is measured: what is refused costs nothing. */
export const limits: Partial<ServerLimits> = {
  requestsPerMinute: most,
  writesPerMinute: most,
  streamsPerPrincipal: most,
  streamsPerScope: most,
  streams: most,
  runsPerPrincipal: most,
};

/** Answers at the pace that the last message asks for. */
export const paced: ModelProvider = {
  name: "openai",
  defaultModel: modelName,
  capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
  async *stream({ messages }): AsyncGenerator<readonly ModelChunk[], void> {
    const { deltas, gapMs } = paceOf(JSON.stringify(messages.at(-1)));
    for (const delta of textPieces(deltas)) {
      await wait(gapMs);
      yield [{ type: "text", index: 0, delta }];
    }
    yield [
      { type: "usage", usage: { input: 1200, output: deltas } },
      { type: "end", stopReason: "stop", raw: "stop" },
    ];
  },
};

function agentFor({ modelUrl, overNode }: ServeSettings): Agent {
  const provider =
    modelUrl === undefined
      ? paced
      : openai({ apiKey: "bench", baseURL: modelUrl, ...(overNode ? {} : { transport: (input, init) => fetch(input, init) }) });
  const isPair = modelUrl?.includes("/pair/") ?? false;
  const tools = benchTools(emptyRecord).map(({ execute, ...tool }) =>
    defineTool({ ...tool, execute: (args) => execute(args as Record<string, unknown>) }),
  );
  return createAgent({ name: "bench", provider, model: modelName, prompt: systemPrompt, tools: isPair ? tools : [] });
}

/** Loopwright's server on its node adapter, sessions in memory. */
export const serve: Serve = async (settings) => {
  const server = createServer({ runtime: createRuntime({ agents: [agentFor(settings)] }), limits });
  const listening = await listen(server, { port: 0 });
  const { url } = listening;
  const made = await fetch(`${url}/api/sessions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: watchedSession, agent: "bench" }),
  });
  if (made.status !== 201) throw new Error(`The session was not made: ${made.status} ${await made.text()}`);
  return url;
};
