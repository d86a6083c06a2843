import type { JsonObject } from "@loopwright/core";
import { type Asked, embedderUnderTest } from "@loopwright/provider-kit/testing";
import { embedderKit, runKit } from "@loopwright/testing";
import { afterAll, describe, expect, it, vi } from "vitest";
import { geminiEmbedder } from "../src/index.ts";

const path = "/v1beta/models/gemini-embedding-001:batchEmbedContents";
const known = new Set(["model", "content", "taskType", "title", "outputDimensionality"]);
const tasks = new Set(["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT", "SEMANTIC_SIMILARITY", "CLASSIFICATION", "CLUSTERING"]);
const signal = new AbortController().signal;

interface WireRequest {
  readonly model: string;
  readonly content: { readonly parts: readonly { readonly text: string }[] };
  readonly taskType: string;
}

const requestsOf = ({ requests }: JsonObject): readonly WireRequest[] => (requests ?? []) as unknown as readonly WireRequest[];
const textsOf = (body: JsonObject): readonly string[] => requestsOf(body).map(({ content }) => content.parts[0]?.text ?? "");

/** What Gemini answers with 400. */
function refusalOf({ url, headers, body }: Asked): string | undefined {
  if (url !== path) return "Not found.";
  if (headers["x-goog-api-key"] === undefined) return "API key not valid.";
  if (Object.keys(body).join() !== "requests") return "Invalid JSON payload received.";
  const requests = requestsOf(body);
  if (requests.length === 0) return "* BatchEmbedContentsRequest.requests: requests must not be empty";
  if (requests.length > 100) return "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch";
  for (const request of requests) {
    const unknown = Object.keys(request).find((name) => !known.has(name));
    if (unknown !== undefined) return `Invalid JSON payload received. Unknown name "${unknown}"`;
    if (`/v1beta/${request.model}:batchEmbedContents` !== path) return "The model of a request differs from that of the batch.";
    if (!tasks.has(request.taskType)) return `Invalid value at 'requests[0].task_type': "${request.taskType}"`;
    if (request.content.parts.length === 0 || request.content.parts[0]?.text === "") return "content contains an empty Part.";
  }
  return undefined;
}

const answerOf = (vectors: readonly (readonly number[])[], tokens?: number) => ({
  embeddings: vectors.map((values) => ({ values })),
  ...(tokens === undefined ? {} : { usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens } }),
});

const statuses: { readonly [status: number]: string } = { 400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED" };
const errorOf = (status: number, message: string) => ({ error: { code: status, message, status: statuses[status] } });

const trials = embedderUnderTest({
  make: ({ origin, key }) => geminiEmbedder({ apiKey: key, baseURL: origin }),
  textsMax: 100,
  wire: { textsOf, refusalOf, answerOf, errorOf },
});
afterAll(() => trials[Symbol.asyncDispose]());

describe("C70: the embedder of Gemini keeps every promise", () => runKit(it, embedderKit, trials));

describe("the embedder of Gemini", () => {
  it("C70: names the task, the model and the wanted length in each request of a batch, and keeps the key out of the address", async () => {
    const transport = vi.fn<typeof fetch>(async () => Response.json(answerOf([[1], [2]])));
    const embedder = geminiEmbedder({ apiKey: "key-0123456789", transport, dimensions: 768 });
    await embedder.embed({ texts: ["a", "b"], purpose: "query" }, { signal });
    await embedder.embed({ texts: ["a", "b"], purpose: "passage" }, { signal });
    const bodies = transport.mock.calls.map(([, init]) => requestsOf(JSON.parse(String(init?.body))));
    expect(bodies.map((requests) => requests.map(({ taskType }) => taskType))).toEqual([
      ["RETRIEVAL_QUERY", "RETRIEVAL_QUERY"],
      ["RETRIEVAL_DOCUMENT", "RETRIEVAL_DOCUMENT"],
    ]);
    expect(bodies[0]?.[0]).toMatchObject({ model: "models/gemini-embedding-001", outputDimensionality: 768 });
    expect(String(transport.mock.calls[0]?.[0])).toBe(`https://generativelanguage.googleapis.com${path}`);
  });

  it("fails without a key before any request", async () => {
    vi.stubEnv("GEMINI_API_KEY", "");
    vi.stubEnv("GOOGLE_API_KEY", "");
    const transport = vi.fn<typeof fetch>();
    const call = geminiEmbedder({ transport }).embed({ texts: ["a"], purpose: "query" }, { signal });
    await expect(call).rejects.toMatchObject({ code: "MODEL_KEY_MISSING" });
    expect(transport).not.toHaveBeenCalled();
    vi.unstubAllEnvs();
  });

  it("refuses an option with an unknown name", () => {
    expect(() => geminiEmbedder({ dimension: 2 } as never)).toThrow(/`dimension`/);
  });
});
