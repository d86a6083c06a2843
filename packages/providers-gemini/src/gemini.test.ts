import { createAgent, defineTool, vendorMessageOf } from "@loopwright/core";
import { type LoopbackServer, loopbackServer } from "@loopwright/provider-kit/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { answerWith, asked, call, canned, eventsOf } from "../test/canned.ts";
import { gemini } from "./index.ts";

const whole = eventsOf(answerWith([{ text: "hello" }]));
const errorBody = (code: number, message: string, details: readonly unknown[] = [], status = "RESOURCE_EXHAUSTED") =>
  JSON.stringify({ error: { code, message, status, details } });
const json = { "content-type": "application/json; charset=UTF-8" };
const quota = (quotaId: string, delay?: string) => [
  { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] },
  ...(delay ? [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: delay }] : []),
];

describe("gemini", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it("sends one request to the address of the model, with key and headers, and the body untouched by the SDK", async () => {
    const { fetch, sent } = canned(whole);
    const odd = { properties: { a: { type: ["string", "null"], default: null } } };
    const tools = [{ name: "t", description: "d", parameters: { type: "object", ...odd } }];
    await call(fetch, { tools, vendorOptions: { notYetKnown: { x_y: [1] } } }, { headers: { "x-team": "a" } });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.url).toBe("https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    expect(sent[0]?.headers.get("x-goog-api-key")).toBe("test-key");
    expect(sent[0]?.headers.get("x-team")).toBe("a");
    expect(sent[0]?.body).toEqual({
      contents: [{ role: "user", parts: [{ text: "hello" }] }],
      tools: [{ functionDeclarations: [{ name: "t", description: "d", parametersJsonSchema: { type: "object", ...odd } }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
      notYetKnown: { x_y: [1] },
    });
  });

  it("makes one unstreamed call when no stream is wanted or the model has none", async () => {
    const body = JSON.stringify(answerWith([{ text: "hello" }]));
    const { fetch, sent } = canned(body, { headers: json });
    const first = await call(fetch, { stream: false });
    await call(fetch, {}, { capabilities: { streaming: false } });
    expect(first.parts).toEqual([{ type: "text", text: "hello" }]);
    expect(sent.map(({ url }) => url.split(":").at(-1))).toEqual(["generateContent", "generateContent"]);
  });

  it("reads an answer in one piece, or a list of answers, where a stream was asked for", async () => {
    const list = JSON.stringify([answerWith([{ text: "a" }], null), answerWith([{ text: "b" }])]);
    expect((await call(canned(list, { headers: json }).fetch)).parts).toEqual([{ type: "text", text: "ab" }]);
  });

  it("takes nothing from the environment but the key", async () => {
    for (const name of ["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"]) vi.stubEnv(name, "http://127.0.0.1:1");
    for (const name of ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"]) vi.stubEnv(name, "true");
    vi.stubEnv("GOOGLE_API_KEY", "second");
    vi.stubEnv("GEMINI_API_KEY", "first");
    const { fetch, sent } = canned(whole);
    const provider = gemini({ transport: fetch });
    for await (const _ of provider.stream(asked, { signal: new AbortController().signal, attempt: 1 }));
    expect(sent[0]?.url).toContain("https://generativelanguage.googleapis.com/");
    expect(sent[0]?.headers.get("x-goog-api-key")).toBe("first");
  });

  it("names the variable of a missing key, makes no request, and finds the key that comes later", async () => {
    vi.stubEnv("GEMINI_API_KEY", "");
    vi.stubEnv("GOOGLE_API_KEY", undefined);
    const { fetch, sent } = canned(whole);
    const provider = gemini({ transport: fetch });
    const read = async () => {
      for await (const _ of provider.stream(asked, { signal: new AbortController().signal, attempt: 1 }));
    };
    await expect(read()).rejects.toMatchObject({ code: "MODEL_KEY_MISSING", message: expect.stringContaining("GEMINI_API_KEY") });
    expect(sent).toEqual([]);
    vi.stubEnv("GEMINI_API_KEY", "later");
    await read();
    expect(sent).toHaveLength(1);
  });

  it("takes no tool whose name the vendor refuses, so that no agent with it is made", () => {
    const named = (name: string) => defineTool({ name, description: "Acts.", parameters: { type: "object" } });
    const made = (name: string) => () => createAgent({ name: "a", provider: gemini(), tools: [named("fine"), named(name)] });
    for (const name of ["_x", "x-1", "a".repeat(64)]) expect(made(name)).not.toThrow();
    for (const name of ["1st", "-x"])
      expect(made(name)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(`\`${name}\``) }));
  });

  it("refuses an image for a model without vision before any request", async () => {
    const { fetch, sent } = canned(whole);
    const content = [{ type: "image", mediaType: "image/png", source: { data: "aGk=" } }] as const;
    const made = call(fetch, { messages: [{ role: "user", content }] }, { capabilities: { vision: false } });
    await expect(made).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    expect(sent).toEqual([]);
  });

  it.each([
    [400, "API key not valid. Please pass a valid API key.", [], "MODEL_AUTH", undefined],
    [404, "models/x is not found for API version v1beta", [], "MODEL_NOT_FOUND", undefined],
    [400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", [], "CONTEXT_OVERFLOW", undefined],
    [
      429,
      "You exceeded your current quota, please check your plan",
      quota("GenerateRequestsPerMinutePerProject", "34.07s"),
      "MODEL_RATE_LIMITED",
      34_070,
    ],
    [
      429,
      "You exceeded your current quota, please check your plan",
      quota("GenerateRequestsPerDayPerProject", "34s"),
      "MODEL_QUOTA_EXHAUSTED",
      34_000,
    ],
    [429, "Resource exhausted", quota("PerMinute", "3600s"), "MODEL_QUOTA_EXHAUSTED", 3_600_000],
    [429, "Resource exhausted", [], "MODEL_RATE_LIMITED", undefined],
    [503, "The model is overloaded.", [], "MODEL_OVERLOADED", undefined],
  ])("takes the error %i %j for what it is, with the wait of its RetryInfo", async (status, message, details, code, retryAfterMs) => {
    const body = errorBody(status, message, details, "SOME_STATUS");
    for (const options of [{}, { stream: false }]) {
      const { fetch, sent } = canned(body, { status, headers: json });
      const error = await call(fetch, options).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code, retryAfterMs });
      expect(vendorMessageOf(error)).toContain(message.slice(0, 40));
      expect(sent).toHaveLength(1);
    }
  });

  it("never shows the key in an error", async () => {
    const { fetch } = canned(errorBody(400, "Bad key test-key in the request"), { status: 400, headers: json });
    await expect(call(fetch)).rejects.toSatisfy((error) => !JSON.stringify([error, String(error)]).includes("test-key"));
  });

  it("throws the vendor's error from inside a stream", async () => {
    const { fetch } = canned(
      eventsOf(answerWith([{ text: "half" }], null), { error: { code: 503, message: "Overloaded.", status: "UNAVAILABLE" } }),
    );
    await expect(call(fetch)).rejects.toMatchObject({ code: "MODEL_OVERLOADED", details: { status: 503 } });
  });

  it("does not take a stream without a finish reason for a whole answer", async () => {
    await expect(call(canned(eventsOf(answerWith([{ text: "half" }], null))).fetch)).rejects.toMatchObject({ code: "MODEL_STREAM_BROKEN" });
    await expect(call(canned("").fetch)).rejects.toMatchObject({ code: "MODEL_STREAM_BROKEN" });
  });

  it("never continues by itself when the vendor offers a continuation", async () => {
    const { fetch, sent } = canned(eventsOf(answerWith([{ text: "x" }], "CONTINUATION", { continuationToken: "t" })));
    const { ended } = await call(fetch);
    expect(ended?.stopReason).toBe("length");
    expect(sent).toHaveLength(1);
  });

  it("writes nothing to the console, with two keys in the environment neither", async () => {
    vi.stubEnv("GOOGLE_API_KEY", "a");
    vi.stubEnv("GEMINI_API_KEY", "b");
    const spies = (["log", "info", "warn", "error", "debug"] as const).map((name) => vi.spyOn(console, name));
    await call(canned(whole).fetch, {
      tools: [{ name: "t", description: "d", parameters: { type: "object" } }],
      system: [{ text: "s", source: "agent", cache: "stable" }],
    });
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
  });

  it("has a default model that its table knows", () => {
    const provider = gemini({ name: "mine" });
    expect(provider.name).toBe("mine");
    expect(provider.capabilities(provider.defaultModel)).toMatchObject({
      streaming: true,
      tools: true,
      vision: true,
      contextTokens: 1_048_576,
    });
  });

  it("closes the connection when its reader leaves the loop, which the SDK's own iterator does not", async () => {
    await using server = await hangingServer();
    const provider = gemini({ apiKey: "key", baseURL: server.origin });
    for await (const _ of provider.stream(asked, { signal: new AbortController().signal, attempt: 1 })) break;
    await server.clientLeft;
  });

  it("throws the signal's reason on abort in mid-answer and closes the connection", async () => {
    await using server = await hangingServer();
    const controller = new AbortController();
    const reason = new Error("enough");
    const read = async () => {
      for await (const _ of gemini({ apiKey: "key", baseURL: server.origin }).stream(asked, { signal: controller.signal, attempt: 1 }))
        controller.abort(reason);
    };
    await expect(read()).rejects.toBe(reason);
    await server.clientLeft;
  });

  it("makes no request of an aborted signal", async () => {
    const { fetch, sent } = canned(whole);
    const stream = gemini({ apiKey: "key", transport: fetch }).stream(asked, { signal: AbortSignal.abort("stop"), attempt: 1 });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toBe("stop");
    expect(sent).toEqual([]);
  });
});

/** Sends half an answer and then waits for its client to go. */
function hangingServer(): Promise<LoopbackServer> {
  return loopbackServer((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(eventsOf(answerWith([{ text: "half" }], null)));
  });
}
