import { type Agent, type AgentSession, createAgent, createSession, defineTool, execute, type Message } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { openai } from "@loopwright/providers-openai";
import { historyText } from "../server/script.ts";
import { type BenchTool, modelName, type Open, type Opening, type Outcome, sessionId, systemPrompt } from "./contender.ts";

/** Calls of one turn that may run at once: as many as the loop written by hand runs. */
const parallelMax = 64;

const agents = new Map<string, Agent>();

function agentFor({ baseURL, tools, turnsMax }: Opening, transport: typeof fetch | undefined): Agent {
  const known = agents.get(baseURL);
  if (known) return known;
  const agent = createAgent({
    name: "bench",
    provider: openai({ apiKey: "bench", baseURL, ...(transport ? { transport: transport } : {}) }),
    model: modelName,
    prompt: systemPrompt,
    tools: tools.map(toolFrom),
    limits: { turnsMax, parallelMax },
  });
  agents.set(baseURL, agent);
  return agent;
}

const toolFrom = ({ name, description, parameters, execute: run }: BenchTool): ReturnType<typeof defineTool> =>
  defineTool({ name, description, parameters, execute: (args) => run(args as Record<string, unknown>) });

async function storeAt(database: string): Promise<SessionStore> {
  const { sqliteStore } = await import("@loopwright/store-sqlite");
  return sqliteStore({ path: database });
}

/** A new session with so many messages, an even number: the last two are of a first turn, with which the others are recorded. */
async function sessionWith(agent: Agent, messages: number): Promise<AgentSession> {
  const context = Array.from({ length: messages - 2 }, (_, index) => messageAt(index));
  const session = createSession({ agent, context });
  await say(session, historyText(messages - 2), () => undefined);
  return session;
}

function messageAt(index: number): Message {
  if (index % 2 === 0) return { role: "user", content: historyText(index) };
  return {
    role: "assistant",
    content: [{ type: "text", text: historyText(index) }],
    stopReason: "stop",
    provider: "bench",
    model: modelName,
  };
}

async function say(session: AgentSession, input: string, onText: Opening["onText"]): Promise<Outcome> {
  const stream = execute(session, input);
  let turns = 0;
  for await (const event of stream) {
    if (event.type === "text_delta") onText(event.delta);
    else if (event.type === "turn_end") turns++;
  }
  const { status, text, error } = await stream.result();
  if (status !== "completed") throw error ?? new Error(`The run ended as ${status}.`);
  return { text, turns };
}

/** An opener of sessions over one transport. */
export const openerOver =
  (transport: typeof fetch | undefined): Open =>
  async (opening) => {
    const agent = agentFor(opening, transport);
    const { database, history, onText } = opening;
    if (database === undefined) {
      const session = history === 0 ? createSession({ agent }) : await sessionWith(agent, history);
      return { say: (input) => say(session, input, onText), close: () => session[Symbol.asyncDispose]() };
    }
    const store = await storeAt(database);
    const session = await createSession({ agent, id: sessionId, store }).ready();
    if (session.messages.length !== history) throw new Error(`The session has ${session.messages.length} messages.`);
    return {
      say: (input) => say(session, input, onText),
      async close() {
        await session[Symbol.asyncDispose]();
        await store.close();
      },
    };
  };

/** Loopwright over the global fetch, as the SDK and the loop by hand are. */
export const open: Open = openerOver((input, init) => fetch(input, init));
