import { type AgentCard, createClient, type LoopwrightClient } from "@loopwright/client";
import { AgentError } from "@loopwright/core";
import type { SessionSummary } from "@loopwright/core/ports";
import type { SessionSnapshot } from "@loopwright/core/protocol";
import type { ChatPlace } from "../chat/chat-place.ts";
import { commandName } from "../command-name.ts";
import { withTypedId } from "../compose/session-beginning.ts";
import { oneLine } from "../terminal/neutralise.ts";
import type { RemoteChoice } from "./remote-choice.ts";
import { createRemoteSession } from "./remote-session.ts";
import type { ServerAddress } from "./server-address.ts";

/** Sessions of one page. */
const pageSize = 100;

/** Sessions of a running server. @throws AgentError SERVER_UNREACHABLE, UNAUTHENTICATED */
export async function remotePlace(server: ServerAddress, asked: RemoteChoice = {}): Promise<ChatPlace> {
  const client = clientOf(server);
  const agent = await agentOf(client, { server, name: asked.agent });
  const model = oneLine(agent.model, 80);
  return {
    introduction: `${oneLine(agent.name, 64)} of ${server.url} answers with ${model}.`,
    isOffline: false,
    provider: new URL(server.url).host,
    defaultModel: model,
    contextMax: () => undefined,
    async open(id) {
      const snapshot = id === undefined ? undefined : await sessionOf(client, id);
      return createRemoteSession(client, snapshot, asked);
    },
    list: async (limit) => (await client.sessions.list({ limit })).sessions,
    resumeCommand: (id) => `${commandName()} chat --url ${server.url} --resume ${id}`,
  };
}

/** A client of that server. */
export function clientOf({ url, token }: ServerAddress): LoopwrightClient {
  return createClient({ url, ...(token === undefined ? {} : { token }) });
}

/** The session of this id or beginning of an id. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID where several ids begin so */
export function sessionOf({ sessions }: LoopwrightClient, typed: string): Promise<SessionSnapshot> {
  return withTypedId(
    typed,
    (id) => sessions.get(id),
    async function* (): AsyncGenerator<readonly SessionSummary[]> {
      for (let before: string | undefined; ; ) {
        const page = await sessions.list({ limit: pageSize, ...(before === undefined ? {} : { before }) });
        yield page.sessions;
        if (page.next === undefined) return;
        before = page.next;
      }
    },
  );
}

interface NamedAgent {
  readonly server: ServerAddress;
  readonly name: string | undefined;
}

/** The agent of that name, else the one that answers where none is named. @throws AgentError AGENT_NOT_FOUND with the names that there are */
async function agentOf(client: LoopwrightClient, { server: { url }, name }: NamedAgent): Promise<AgentCard> {
  const { agents, default: first } = await client.agents();
  const agent = agents.find((one) => one.name === (name ?? first)) ?? (name === undefined ? agents[0] : undefined);
  if (agent) return agent;
  const what = name === undefined ? "no agent" : `no agent \`${oneLine(name, 64)}\``;
  const names = agents.map((one) => oneLine(one.name, 64)).join(", ");
  throw new AgentError("AGENT_NOT_FOUND", {
    message: `The server at ${url} has ${what}.`,
    fix: names === "" ? "Check the address." : `Pass one of these with \`--agent\`: ${names}.`,
  });
}
