/*
 * What a test runs as a process of its own: a node that works on the session `root` of a store that it shares with others. It states what happens, a
 * line each. Arguments: `sqlite <file>` or `redis <port>`; what to do; the build of the agents.
 */
import { appendFileSync } from "node:fs";
import { type Agent, type AgentSession, agentTool, createAgent, createSession, defineTool, execute, resume } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { redisStore } from "@loopwright/store-redis";
import { sqliteStore } from "@loopwright/store-sqlite";

const [kind = "", place = "", act = "", build = "1", witness = ""] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const usage = { input: 10, output: 1 };

interface Words {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** Makes these calls first, and answers when it has their results. */
const calling = (calls: readonly object[], text: string) =>
  scripted((({ messages }: Words) => (messages.some(({ role }) => role === "tool_result") ? { text, usage } : { calls, usage })) as never);
const task = (name: string, text = "Do it."): object => ({ name, args: { task: text } });

/** Three researchers beside one another. Each looks something up, which ends in the second build alone. */
function researchers(): Agent {
  const look = defineTool({
    name: "look",
    description: "Looks something up.",
    parameters: { type: "object" },
    replay: "idempotent",
    execute() {
      say("looks");
      return build === "1" ? new Promise<never>(() => {}) : "found";
    },
  });
  const provider = calling([{ name: "look" }], "found");
  const researcher = createAgent({ name: "researcher", provider, tools: [look] });
  const three = ["a", "b", "c"].map((one) => task("researcher", one));
  return createAgent({ name: "lead", provider: calling(three, "all found"), tools: [agentTool({ agent: researcher })] });
}

/** Three agents above one another; the tool at the bottom waits for a person, and leaves a trace of each run. */
function cleaners(): Agent {
  const remove = defineTool({
    name: "remove",
    description: `Removes, as build ${build} does.`,
    parameters: { type: "object" },
    approval: true,
    execute() {
      appendFileSync(witness, `${build}\n`);
      return "removed";
    },
  });
  const bottom = createAgent({
    name: "bottom",
    provider: calling([{ name: "remove" }], "clean"),
    tools: [remove],
    prompt: `Build ${build}.`,
  });
  const middle = createAgent({ name: "middle", provider: calling([task("bottom")], "clean"), tools: [agentTool({ agent: bottom })] });
  return createAgent({ name: "root", provider: calling([task("middle")], "all clean"), tools: [agentTool({ agent: middle })] });
}

async function decide(session: AgentSession, decision: "allow" | "deny"): Promise<void> {
  const [approval] = session.pendingApprovals;
  const callKey = approval?.callKey ?? process.argv[7] ?? "";
  say(`deciding ${callKey}`);
  try {
    const decided = await session.decide(callKey, { decision });
    const { status, text } = await decided.stream().result();
    say(`${decided.replayed ? "replayed" : "decided"} ${status} ${text}`);
  } catch (error) {
    say(`refused ${(error as { readonly code?: string }).code ?? error}`);
  }
}

const store = kind === "sqlite" ? sqliteStore({ path: place }) : redisStore({ url: `redis://127.0.0.1:${place}` });
const isTree = act === "ask" || act === "allow" || act === "deny";
const session = createSession({ agent: isTree ? cleaners() : researchers(), id: "root", store, leaseMs: 2_000 });
await session.ready();
if (act === "begin" || act === "ask") {
  const { status } = await execute(session, "Go.").result();
  say(status);
} else if (act === "continue") {
  const { status, text } = await resume(session).result();
  say(`${status} ${text} ${session.totalUsage?.input}`);
} else await decide(session, act as "allow" | "deny");
await session[Symbol.asyncDispose]();
await store.close();
