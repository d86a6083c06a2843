import { type Agent, type AgentOptions, agentTool, createAgent, defineTool, type ReplayClass } from "@loopwright/core";
import { fixedPrices } from "@loopwright/core/memory";
import { openai } from "@loopwright/providers-openai";
import type { ToolName } from "./job.ts";
import type { KillPoint, NodeSettings } from "./node-settings.ts";
import { connectWitness, type Testify } from "./testimony.ts";

const classes: { readonly [name in Exclude<ToolName, "ask">]: ReplayClass } = {
  pay: "once",
  book: "idempotent",
  read: "pure",
  sign: "once",
};

const parameters = {
  type: "object",
  properties: { job: { type: "string" }, turn: { type: "integer" }, index: { type: "integer" }, ms: { type: "integer" } },
  required: ["job", "turn", "index", "ms"],
} as const;

/** So that each attempt is counted, those of nodes that die as well. */
const prices = fixedPrices({ chaos: { inputUsd: 1, outputUsd: 3 } });

/**
 * The agent of a node: one tool of each class and one that a person must allow, all of them seen by the witness, one that runs at the client, and agents
 * that have the tools of the server.
 */
export function nodeAgent({ modelUrl, apiKey, witnessPort, name: node, killAt, flaw }: NodeSettings): Agent {
  const testify = deadlyWitness(connectWitness(witnessPort), killAt);
  const server = Object.entries(classes).map(([name, replay]) =>
    defineTool({
      name,
      description: `Does something that is ${replay}.`,
      parameters,
      replay,
      async execute(args, { callKey, attempt, session, signal }) {
        const what = { tool: name, session: session.id, callKey, attempt, node };
        await testify({ ...what, phase: "start" });
        if (flaw === "pays twice" && name === "pay") await testify({ ...what, phase: "start" });
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Number(args["ms"]));
          const stop = (): void => {
            clearTimeout(timer);
            resolve();
          };
          signal.addEventListener("abort", stop, { once: true });
        });
        signal.throwIfAborted();
        await testify({ ...what, phase: "end" });
        return `${name} ${callKey} is done`;
      },
    }),
  );
  const ask = defineTool({ name: "ask", description: "Asks the person.", parameters });
  const shared = {
    provider: openai({
      baseURL: `${modelUrl}/v1`,
      api: "chat",
      model: "chaos",
      apiKey,
      ...(flaw === "follows redirects" ? { transport: (input, init) => fetch(input, { ...init, redirect: "follow" }) } : {}),
    }),
    prices,
    hooks: [
      { name: "approve", gate: ({ tool }) => (tool.name === "sign" ? { action: "ask", reason: "It is signed in your name." } : undefined) },
    ],
    limits: { turnsMax: 50, attemptsMax: 50, toolAttemptsMax: 50 },
  } satisfies Partial<AgentOptions>;
  const bottom = createAgent({ ...shared, name: "bottom", tools: server });
  const middle = createAgent({ ...shared, name: "middle", tools: [...server, agentTool({ agent: bottom })] });
  const aside = createAgent({ ...shared, name: "aside", tools: server });
  const below = [agentTool({ agent: middle }), agentTool({ agent: aside, background: true })];
  return createAgent({ ...shared, name: "chaos", tools: [...server, ask, ...below] });
}

function deadlyWitness(testify: Testify, point: KillPoint | undefined): Testify {
  if (!point?.at.startsWith("witness-")) return testify;
  let seen = 0;
  return async (testimony) => {
    const isHere = point.at === `witness-${testimony.phase}` && ++seen === point.count;
    if (isHere && point.when === "before") process.kill(process.pid, "SIGKILL");
    await testify(testimony);
    if (isHere) process.kill(process.pid, "SIGKILL");
  };
}
