import { type AgentCard, createClient, type LoopwrightClient } from "@loopwright/client";
import { AgentError } from "@loopwright/core";
import type { ChatPlace } from "../chat/chat-place.ts";
import { commandName } from "../command-name.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { createRemoteSession } from "./remote-session.ts";
import type { ServerAddress } from "./server-address.ts";

/** Sessions of a running server. @throws AgentError SERVER_UNREACHABLE, UNAUTHENTICATED */
export async function remotePlace(server: ServerAddress): Promise<ChatPlace> {
  const client = clientOf(server);
  const agent = await defaultAgent(client, server);
  const model = oneLine(agent.model, 80);
  return {
    introduction: `${oneLine(agent.name, 64)} of ${server.url} answers with ${model}.`,
    isOffline: false,
    provider: new URL(server.url).host,
    defaultModel: model,
    contextMax: () => undefined,
    async open(id) {
      return createRemoteSession(client, id === undefined ? undefined : await client.sessions.get(id));
    },
    list: async (limit) => (await client.sessions.list({ limit })).sessions,
    resumeCommand: (id) => `${commandName()} chat --url ${server.url} --resume ${id}`,
  };
}

/** A client of that server. */
export function clientOf({ url, token }: ServerAddress): LoopwrightClient {
  return createClient({ url, ...(token === undefined ? {} : { token }) });
}

async function defaultAgent(client: LoopwrightClient, { url }: ServerAddress): Promise<AgentCard> {
  const { agents, default: name } = await client.agents();
  const agent = agents.find((one) => one.name === name) ?? agents[0];
  if (agent) return agent;
  throw new AgentError("AGENT_NOT_FOUND", { message: `The server at ${url} has no agent.`, fix: "Check the address." });
}
