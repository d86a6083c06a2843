import type { ExtensionRoute } from "@loopwright/server";
import { companion } from "../compose/companion.ts";

type Routes = readonly ExtensionRoute[];

/** What answers each of the protocols of other people's clients that `run` knows: loaded where it is wanted. */
const routesOf = {
  openai: async (): Promise<Routes> => (await import("@loopwright/protocol-openai")).openaiRoutes(),
  "ai-sdk": async (): Promise<Routes> => (await import("@loopwright/protocol-ai-sdk")).aiSdkRoutes(),
  a2a: async (): Promise<Routes> => (await import("@loopwright/protocol-a2a")).a2aRoutes(),
  "ag-ui": async (): Promise<Routes> => (await import("@loopwright/protocol-ag-ui")).agUiRoutes(),
  mcp: async (): Promise<Routes> => (await companion("@loopwright/protocol-mcp", () => import("@loopwright/protocol-mcp"))).mcpRoutes(),
};

/** The name of a protocol. */
export type ProtocolName = keyof typeof routesOf;

/** Protocols of other people's clients that `run` can answer. */
export const protocolNames = Object.keys(routesOf) as readonly ProtocolName[];

/** The routes of these protocols. */
export async function protocolRoutes(names: readonly ProtocolName[]): Promise<Routes> {
  return (await Promise.all([...new Set(names)].map((name) => routesOf[name]()))).flat();
}
