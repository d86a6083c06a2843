import { type Asked, embedderUnderTest } from "@loopwright/provider-kit/testing";
import { embedderKit, runKit } from "@loopwright/testing";
import { afterAll, describe, expect, it, vi } from "vitest";
import { type OllamaEmbedderOptions, ollamaEmbedder } from "../src/index.ts";

const known = new Set(["model", "input", "truncate", "dimensions", "keep_alive", "options"]);
const signal = new AbortController().signal;

/** What Ollama answers with 400, or would do in silence: cut a text. */
function refusalOf({ url, body }: Asked): string | undefined {
  const { model, input, truncate } = body;
  if (url !== "/api/embed") return "404 page not found";
  const unknown = Object.keys(body).find((name) => !known.has(name));
  if (unknown !== undefined) return `unknown field ${unknown}`;
  if (typeof model !== "string" || model === "") return "model is required";
  if (truncate !== false) return "a long text would be cut";
  return Array.isArray(input) && input.every((text) => typeof text === "string") ? undefined : "invalid input type";
}

const answerOf = (embeddings: readonly (readonly number[])[], tokens?: number) => ({
  model: "embeddinggemma",
  embeddings,
  ...(tokens === undefined ? {} : { prompt_eval_count: tokens }),
});

const trials = embedderUnderTest({
  make: ({ origin, key }) => ollamaEmbedder({ apiKey: key, baseURL: origin }),
  textsMax: 64,
  wire: { textsOf: ({ input }) => input as readonly string[], refusalOf, answerOf, errorOf: (_, error) => ({ error }) },
});
afterAll(() => trials[Symbol.asyncDispose]());

describe("C70: the embedder of Ollama keeps every promise", () => runKit(it, embedderKit, trials));

describe("the embedder of Ollama", () => {
  const sent = async (options: OllamaEmbedderOptions): Promise<readonly unknown[]> => {
    const transport = vi.fn<typeof fetch>(async () => Response.json(answerOf([[1]])));
    const embedder = ollamaEmbedder({ baseURL: "http://ollama.example", transport, ...options });
    await embedder.embed({ texts: ["bread"], purpose: "passage" }, { signal });
    await embedder.embed({ texts: ["bread"], purpose: "query" }, { signal });
    return transport.mock.calls.map(([, init]) => JSON.parse(String(init?.body)));
  };

  it("C70: puts what the model's makers demand before passages and queries", async () => {
    expect(await sent({})).toMatchObject([{ input: ["title: none | text: bread"] }, { input: ["task: search result | query: bread"] }]);
    expect(await sent({ model: "nomic-embed-text:v1.5" })).toMatchObject([
      { input: ["search_document: bread"] },
      { input: ["search_query: bread"] },
    ]);
    expect(await sent({ model: "all-minilm" })).toMatchObject([{ input: ["bread"] }, { input: ["bread"] }]);
    expect(await sent({ prefixes: { passage: "p: ", query: "q: " } })).toMatchObject([{ input: ["p: bread"] }, { input: ["q: bread"] }]);
  });

  it("sends length, window and how long the model stays loaded", async () => {
    const [body] = await sent({ dimensions: 256, contextTokens: 2_048, keepAlive: "10m" });
    expect(body).toMatchObject({ dimensions: 256, options: { num_ctx: 2_048 }, keep_alive: "10m", truncate: false });
  });

  it.each([
    ["a text that is too long", 400, "the input length exceeds the context length", "CONTEXT_OVERFLOW", undefined],
    ["a model that is not there", 404, 'model "embeddinggemma" not found, try pulling it first', "MODEL_NOT_FOUND", /ollama pull/],
  ])("explains %s", async (_, status, error, code, fix) => {
    const transport = async () => Response.json({ error }, { status });
    const embedder = ollamaEmbedder({ baseURL: "http://ollama.example", transport });
    const thrown = await embedder.embed({ texts: ["a"], purpose: "query" }, { signal }).catch((each: unknown) => each);
    expect(thrown).toMatchObject({ code });
    if (fix) expect((thrown as { fix: string }).fix).toMatch(fix);
  });

  it("explains a server that is not there", async () => {
    const transport: typeof fetch = async () => {
      throw new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) });
    };
    const call = ollamaEmbedder({ baseURL: "http://ollama.example", transport }).embed({ texts: ["a"], purpose: "query" }, { signal });
    await expect(call).rejects.toMatchObject({ code: "MODEL_UNREACHABLE", fix: expect.stringContaining("ollama serve") });
  });
});
