import type { JsonObject } from "@loopwright/core";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { faultSuite, findRecordings, loadRecordings, type RecordingSuiteOptions, recordingSuite } from "@loopwright/provider-kit/testing";
import { collectAnswer } from "@loopwright/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anthropic } from "../src/index.ts";
import { violationsOf } from "./strict-rules.ts";

const transport = nodeHttp();
const options: RecordingSuiteOptions = {
  runner: { describe, it, beforeAll, afterAll },
  providers: ["anthropic"],
  make: (baseURL, _, fetch = transport) => anthropic({ apiKey: "key", baseURL, transport: fetch }),
};
recordingSuite(options);
faultSuite(options);

const place = findRecordings();
const recordings = place.available ? loadRecordings(place.recordings, ["anthropic"]) : [];

describe.skipIf(!place.available)("recorded traffic of Anthropic", () => {
  it("are 44 calls", () => {
    expect(recordings.length).toBe(44);
  });

  it.each(recordings.filter(({ request, response }) => request.body && response.status !== 400).map((each) => [each.id, each] as const))(
    "%s was asked for by a request that keeps the strict rules",
    (_, { request }) => {
      expect(violationsOf(request.body as JsonObject)).toEqual([]);
    },
  );

  it.each(recordings.filter(({ tags }) => tags.includes("server-tool")).map((each) => [each.id, each] as const))(
    "%s keeps the blocks of server tools, which are no calls",
    async (_, { tags, response, truth }) => {
      const fetch = async (): Promise<Response> =>
        new Response(response.body, { headers: { "content-type": response.headers["content-type"] ?? "" } });
      const request = {
        model: "claude-sonnet-4-6",
        messages: [{ role: "user", content: "Hello." }],
        stream: tags.includes("stream"),
      } as const;
      const { answer } = await collectAnswer(anthropic({ apiKey: "key", transport: fetch }), request);
      const kept = answer.parts.flatMap((part) => (part.type === "opaque" ? [(part.data as JsonObject)["type"]] : []));
      expect(kept).toEqual(itemsOf(truth).map(({ type }) => type));
    },
  );
});

function itemsOf(truth: object): readonly { readonly type: string }[] {
  return "serverItems" in truth ? (truth.serverItems as readonly { readonly type: string }[]) : [];
}
