import type { A2aOptions } from "@loopwright/protocol-a2a";
import type { ExtensionRoute } from "@loopwright/server";
import { companion } from "../compose/companion.ts";
import type { Workplace } from "../compose/workplace.ts";

type Routes = readonly ExtensionRoute[];

/** What routes are made from. */
interface RoutesParts extends Pick<Workplace, "agents" | "skills"> {
  /** Callers need tokens. */
  readonly isSecured: boolean;
}

/** What answers each of the protocols of other people's clients that `run` knows: loaded where it is wanted. */
const routesOf = {
  openai: async (): Promise<Routes> => (await import("@loopwright/protocol-openai")).openaiRoutes(),
  "ai-sdk": async (): Promise<Routes> => (await import("@loopwright/protocol-ai-sdk")).aiSdkRoutes(),
  a2a: async (parts: RoutesParts): Promise<Routes> => (await import("@loopwright/protocol-a2a")).a2aRoutes(cardsOf(parts)),
  "ag-ui": async (): Promise<Routes> => (await import("@loopwright/protocol-ag-ui")).agUiRoutes(),
  mcp: async (): Promise<Routes> => (await companion("@loopwright/protocol-mcp", () => import("@loopwright/protocol-mcp"))).mcpRoutes(),
};

/** The skills that the cards of agents show: those of the folder of `--skills`, for the agents that can read them. */
function cardsOf({ agents, skills, isSecured }: RoutesParts): A2aOptions {
  if (skills.length === 0) return { isSecured };
  const shown = skills.map(({ name, description }) => ({ id: name, name, description: description.replaceAll(/\s+/g, " ").trim() }));
  const able = agents.filter(({ tools }) => tools.some(({ name }) => name === "read_skill"));
  return { isSecured, skills: Object.fromEntries(able.map(({ name }) => [name, shown])) };
}

/** The name of a protocol. */
export type ProtocolName = keyof typeof routesOf;

/** Protocols of other people's clients that `run` can answer. */
export const protocolNames = Object.keys(routesOf) as readonly ProtocolName[];

/** The routes of these protocols. */
export async function protocolRoutes(names: readonly ProtocolName[], parts: RoutesParts): Promise<Routes> {
  return (await Promise.all([...new Set(names)].map((name) => routesOf[name](parts)))).flat();
}
