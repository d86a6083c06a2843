/*
 * What a test runs as a process of its own: a worker on a Redis that it shares with others. Its agent starts six researchers beside one another; each
 * looks something up, which it prints with the key of the call, and which ends on a line of the test. Arguments: the port of the Redis, the name of the node.
 */
import { createInterface } from "node:readline";
import { redisBackend } from "@loopwright/backend-redis";
import { type Agent, agentTool, createAgent, defineTool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { createRuntime, createWorker } from "@loopwright/host";

const [port = "", node = ""] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const usage = { input: 10, output: 1 };
const { promise: released, resolve: release } = Promise.withResolvers<void>();

interface Words {
  readonly messages: readonly { readonly role: string }[];
}
/** Makes these calls first, and answers when it has their results. */
const calling = (calls: readonly object[], text: string) =>
  scripted((({ messages }: Words) => (messages.some(({ role }) => role === "tool_result") ? { text, usage } : { calls, usage })) as never);

function lead(): Agent {
  const look = defineTool({
    name: "look",
    description: "Looks something up.",
    parameters: { type: "object" },
    replay: "idempotent",
    async execute(_, { callKey }) {
      say(`looks ${callKey}`);
      await released;
      return "found";
    },
  });
  const researcher = createAgent({ name: "researcher", provider: calling([{ name: "look" }], "found"), tools: [look] });
  const six = Array.from({ length: 6 }, (_, at) => ({ name: "researcher", args: { task: `Part ${at}.` } }));
  return createAgent({
    name: "lead",
    provider: calling(six, "all found"),
    tools: [agentTool({ agent: researcher })],
    limits: { parallelMax: 6 },
  });
}

const runtime = createRuntime({ agents: [lead()], ...redisBackend(`redis://127.0.0.1:${port}`), leaseMs: 2_000 });
const worker = createWorker({ runtime, node, limits: { sweepMs: 500 } });
say("ready");
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "go") return release();
  void worker
    .close()
    .then(() => runtime.close())
    .then(() => process.exit(0));
});
