import type { ModelProvider } from "@loopwright/core/ports";
import { nodeHttp } from "@loopwright/provider-kit/node";
import type { Recording } from "@loopwright/provider-kit/testing";
import { knownServers, openai } from "../src/index.ts";

const transport = nodeHttp();

/** Whose recordings are ours. */
export const providers: readonly string[] = ["openai-chat", "openai-compat", "openai-responses"];

/** A provider as it would be made for the server that was recorded; only the address is another one. */
export function replayedProvider(baseURL: string, recording: Recording, fetch: typeof globalThis.fetch = transport): ModelProvider {
  const compat = knownServers.find((server) => server.label.toLowerCase().startsWith(recording.vendor))?.compat ?? {};
  const api = recording.provider === "openai-responses" ? "responses" : "chat";
  return openai({ apiKey: "test", baseURL, api, compat: { ...compat, vision: true, tools: true }, transport: fetch });
}
