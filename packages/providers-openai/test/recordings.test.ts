import type { ModelProvider } from "@loopwright/core/ports";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { faultSuite, findRecordings, loadRecordings, type Recording, recordingSuite } from "@loopwright/provider-kit/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { knownServers, openai } from "../src/index.ts";
import { violationsOf } from "./strict-rules.ts";

const transport = nodeHttp();

/** As it would be made for the server itself; only the address is another one. */
function make(baseURL: string, recording: Recording): ModelProvider {
  const compat = knownServers.find((server) => server.label.toLowerCase().startsWith(recording.vendor))?.compat ?? {};
  const api = recording.provider === "openai-responses" ? "responses" : "chat";
  return openai({ apiKey: "test", baseURL, api, compat: { ...compat, vision: true, tools: true }, fetch: transport });
}

const options = { runner: { describe, it, beforeAll, afterAll }, providers: ["openai-chat", "openai-compat", "openai-responses"], make };
recordingSuite({
  ...options,
  exclude: {
    "azure-chat-function-calling-azure-grok-4-1-fast-non-reasoning-can-use-tools-4-9a666cfb":
      "it claims 515 cached tokens of 377 read; usage.test.ts says what we make of that",
  },
});
faultSuite(options);

const place = findRecordings();

describe.skipIf(!place.available)("recorded requests of OpenAI and compatible servers", () => {
  const recordings = place.available ? loadRecordings(place.recordings, options.providers) : [];

  it("are 33, 29 and 34", () => {
    const count = (provider: string): number => recordings.filter((recording) => recording.provider === provider).length;
    expect(options.providers.map(count)).toEqual([33, 29, 34]);
  });

  it("keep the strict rules where the vendor answered with anything but 400", () => {
    const asked = recordings.filter(({ request, response }) => request.body !== null && response.status !== 400);
    expect(asked.length).toBeGreaterThan(80);
    for (const { id, request } of asked) expect([id, violationsOf(request.body)]).toEqual([id, []]);
  });
});
