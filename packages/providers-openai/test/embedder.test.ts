import { vendorMessageOf } from "@loopwright/core";
import { type Asked, embedderUnderTest, loopbackServer } from "@loopwright/provider-kit/testing";
import { embedderKit, runKit } from "@loopwright/testing";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { openaiEmbedder } from "../src/index.ts";

const textsMax = 8;
const known = new Set(["model", "input", "encoding_format", "dimensions", "user"]);
const signal = new AbortController().signal;

/** What OpenAI answers with 400. */
function refusalOf({ url, headers, body }: Asked): string | undefined {
  const { input, model, encoding_format } = body;
  if (url !== "/v1/embeddings") return `Invalid URL (POST ${url})`;
  if (!headers.authorization?.startsWith("Bearer ")) return "You didn't provide an API key.";
  const unknown = Object.keys(body).find((name) => !known.has(name));
  if (unknown !== undefined) return `Unrecognized request argument supplied: ${unknown}`;
  if (typeof model !== "string" || model === "") return "you must provide a model parameter";
  if (encoding_format !== "float" && encoding_format !== "base64") return "Invalid value for 'encoding_format'.";
  if (!Array.isArray(input) || input.length === 0 || input.length > 2_048) return "'$.input' is invalid.";
  return input.some((text) => typeof text !== "string" || text === "") ? "'$.input' is invalid." : undefined;
}

const answerOf = (vectors: readonly (readonly number[])[], tokens?: number) => ({
  object: "list",
  // The API documents an index, and no order.
  data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })).toReversed(),
  model: "text-embedding-3-small",
  ...(tokens === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
});

const errorOf = (status: number, message: string) => ({
  error: { message, type: "invalid_request_error", param: null, code: String(status) },
});

const trials = embedderUnderTest({
  make: ({ origin, key }) => openaiEmbedder({ apiKey: key, baseURL: `${origin}/v1`, model: "text-embedding-3-small", textsMax }),
  textsMax,
  wire: { textsOf: ({ input }) => input as readonly string[], refusalOf, answerOf, errorOf },
});
afterAll(() => trials[Symbol.asyncDispose]());
afterEach(() => vi.unstubAllEnvs());

describe("C70: the embedder of OpenAI keeps every promise", () => runKit(it, embedderKit, trials));

/** A transport that notes what it is asked. */
function noting(): { readonly asked: { url: string; headers: Headers; body: string }[]; readonly transport: typeof fetch } {
  const asked: { url: string; headers: Headers; body: string }[] = [];
  return {
    asked,
    transport: async (input, init) => {
      asked.push({ url: String(input), headers: new Headers(init?.headers), body: String(init?.body) });
      return Response.json(answerOf([[1, 0]], 3));
    },
  };
}

describe("the embedder of OpenAI", () => {
  it("C70: sends the headers OpenAI-Organization and OpenAI-Project to /embeddings", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-from-the-environment");
    vi.stubEnv("OPENAI_ORG_ID", "org-env");
    const { asked, transport } = noting();
    await openaiEmbedder({ transport, dimensions: 2 }).embed({ texts: ["a"], purpose: "query" }, { signal });
    await openaiEmbedder({ transport, organization: "org-given", project: "proj-given" }).embed(
      { texts: ["a"], purpose: "query" },
      { signal },
    );
    expect(asked.map(({ url }) => url)).toEqual(Array.from({ length: 2 }, () => "https://api.openai.com/v1/embeddings"));
    expect(asked.map(({ headers }) => [headers.get("openai-organization"), headers.get("openai-project")])).toEqual([
      ["org-env", null],
      ["org-given", "proj-given"],
    ]);
    expect(asked[0]?.headers.get("authorization")).toBe("Bearer sk-from-the-environment");
    expect(JSON.parse(asked[0]?.body ?? "")).toEqual({
      model: "text-embedding-3-small",
      input: ["a"],
      encoding_format: "float",
      dimensions: 2,
    });
  });

  it("asks a local server without a key, and wants a model for it", async () => {
    vi.stubEnv("OPENAI_API_KEY", "");
    await using server = await loopbackServer((response) => void response.end(JSON.stringify(answerOf([[1, 0]]))));
    const baseURL = `${server.origin}/v1`;
    await openaiEmbedder({ baseURL, model: "local" }).embed({ texts: ["a"], purpose: "query" }, { signal });
    expect(server.asked[0]?.headers).not.toHaveProperty("authorization");
    const unnamed = openaiEmbedder({ baseURL }).embed({ texts: ["a"], purpose: "query" }, { signal });
    await expect(unnamed).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(server.asked).toHaveLength(1);
  });

  it("fails without a key before any request, and names the variable", async () => {
    vi.stubEnv("OPENAI_API_KEY", "");
    const { asked, transport } = noting();
    const call = openaiEmbedder({ transport }).embed({ texts: ["a"], purpose: "query" }, { signal });
    await expect(call).rejects.toMatchObject({ code: "MODEL_KEY_MISSING", details: { variable: "OPENAI_API_KEY" } });
    expect(asked).toEqual([]);
  });

  it("refuses an index that is none of the texts, or that stands twice", async () => {
    for (const index of [7, 0, -1, "0"]) {
      const data = [
        { index: 0, embedding: [1] },
        { index, embedding: [1] },
      ];
      const embedder = openaiEmbedder({ apiKey: "k-0123456789", transport: async () => Response.json({ data }) });
      await expect(embedder.embed({ texts: ["a", "b"], purpose: "query" }, { signal })).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
    }
  });

  it("keeps the vendor's sentence about a text that is too long for operators", async () => {
    const message = "This model's maximum context length is 8192 tokens, however you requested 9000 tokens.";
    const transport = async () => Response.json(errorOf(400, message), { status: 400 });
    const error = await openaiEmbedder({ apiKey: "k-0123456789", transport })
      .embed({ texts: ["long"], purpose: "passage" }, { signal })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "CONTEXT_OVERFLOW" });
    expect(vendorMessageOf(error)).toBe(message);
  });

  it("refuses an option with an unknown name", () => {
    expect(() => openaiEmbedder({ organisation: "org" } as never)).toThrow(/`organisation`/);
  });
});
