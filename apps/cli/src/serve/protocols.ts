import type { ExtensionRoute } from "@loopwright/server";

/** Protocols of other people's clients that `run` can answer. */
export const protocolNames = ["openai"] as const;

/** The name of one. */
export type ProtocolName = (typeof protocolNames)[number];

/** The routes of these protocols. What answers one is loaded where it is wanted. */
export async function protocolRoutes(names: readonly ProtocolName[]): Promise<readonly ExtensionRoute[]> {
  if (!names.includes("openai")) return [];
  const { openaiRoutes } = await import("@loopwright/protocol-openai");
  return openaiRoutes();
}
