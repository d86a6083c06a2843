import { execFileSync } from "node:child_process";
import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { createAgent, defineTool, isAgentError, vendorMessageOf } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { type Asked, loopbackServer } from "@loopwright/provider-kit/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventStream, json, streaming } from "../test/canned.ts";
import { answerOf, chatAnswer, chatChunk, request, responsesAnswer } from "../test/samples.ts";
import { openai } from "./openai.ts";
import type { OpenAiOptions } from "./options.ts";

const apiKey = "test-key-0123456789";
const apis = ["chat", "responses"] as const;
const answers = { chat: chatAnswer, responses: responsesAnswer };
const open = { "content-type": "text/event-stream" };

afterEach(() => vi.unstubAllEnvs());

const at = (origin: string, options: OpenAiOptions = {}): ModelProvider => openai({ apiKey, baseURL: `${origin}/v1`, ...options });

/** A transport that notes what it is asked and answers well. */
function noting(): { asked: { url: string; headers: Headers }[]; fetch: typeof fetch } {
  const asked: { url: string; headers: Headers }[] = [];
  return {
    asked,
    fetch: async (input, init) => {
      asked.push({ url: String(input), headers: new Headers(init?.headers) });
      const events = String(input).endsWith("/responses") ? responsesAnswer : chatAnswer;
      return new Response(eventStream(events), { headers: open });
    },
  };
}

describe.each(apis)("openai over %s", (api) => {
  it("A36, A43: asks for a stream and gives text, usage and one end", async () => {
    await using server = await loopbackServer(streaming(...answers[api]));
    expect(await answerOf(at(server.origin, { api }))).toMatchObject({
      parts: [{ type: "text", text: "Good day." }],
      usage: { cacheRead: 900, output: 20 },
      ended: { stopReason: "stop", model: "gpt-4.1-2025" },
    });
    const [asked] = server.asked as readonly [Asked];
    expect(asked.url).toBe(api === "chat" ? "/v1/chat/completions" : "/v1/responses");
    expect(asked.body).toMatchObject({ model: "gpt-4.1", stream: true });
    if (api === "chat") expect(asked.body["stream_options"]).toEqual({ include_usage: true });
    else expect(asked.body["store"]).toBe(false);
    expect(JSON.stringify(asked.body)).not.toContain("cache_control");
  });

  it("B21: sends none of the tools' keys without tools", async () => {
    await using server = await loopbackServer(streaming(...answers[api]));
    await answerOf(at(server.origin, { api }), { ...request, tools: [], toolChoice: "required", parallelToolCalls: true });
    for (const key of [
      "tools",
      "tool_choice",
      "parallel_tool_calls",
      "max_tokens",
      "max_completion_tokens",
      "max_output_tokens",
      "temperature",
    ])
      expect(server.asked[0]?.body).not.toHaveProperty(key);
  });

  it("A41: without streaming makes one call and yields one batch", async () => {
    const whole = {
      chat: { model: "m", choices: [{ message: { content: "Good day." }, finish_reason: "stop" }] },
      responses: { status: "completed", model: "m", output: [{ type: "message", content: [{ type: "output_text", text: "Good day." }] }] },
    };
    await using server = await loopbackServer(json(200, whole[api]));
    const provider = at(server.origin, { api, capabilities: { streaming: false } });
    const batches: unknown[] = [];
    for await (const chunks of provider.stream(request, { signal: new AbortController().signal, attempt: 1 }))
      batches.push(chunks.map((chunk) => chunk.type));
    expect(batches).toEqual([["text", "end"]]);
    expect(server.asked[0]?.body["stream"]).toBe(false);
  });

  it("A62: refuses an image before any request where the model cannot see", async () => {
    await using server = await loopbackServer(streaming(...answers[api]));
    const image = { type: "image", mediaType: "image/png", source: { data: "aGk=" } } as const;
    const blind = answerOf(at(server.origin, { api }), { model: "gpt-3.5-turbo", messages: [{ role: "user", content: [image] }] });
    await expect(blind).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    expect(server.asked).toEqual([]);
  });

  it("trap 1: a stream that ends without its terminal event is an error, not a short answer", async () => {
    await using server = await loopbackServer(streaming(...answers[api].slice(0, 3)));
    await expect(answerOf(at(server.origin, { api }))).rejects.toMatchObject({ code: "MODEL_STREAM_BROKEN", retryable: true });
  });

  describe.each([
    ["the global fetch", {}],
    ["node:http", { transport: nodeHttp({ proxy: false }) }],
  ])("on %s", (_, transport) => {
    it.each(["before the headers", "in the middle of the text"])(
      "D38, trap 1: an abort %s throws its reason and closes the connection",
      async (phase) => {
        const controller = new AbortController();
        const reason = new Error("stopped by a person");
        await using server = await loopbackServer((response) => {
          if (phase === "before the headers") controller.abort(reason);
          else response.writeHead(200, open).write(eventStream(answers[api].slice(0, 3)));
        });
        const provider = at(server.origin, { api, ...transport });
        const run = async (): Promise<void> => {
          for await (const _chunks of provider.stream(request, { signal: controller.signal, attempt: 1 })) controller.abort(reason);
        };
        await expect(run()).rejects.toBe(reason);
        await server.clientLeft;
      },
    );

    it("trap 2: a connection cut in the middle is a broken stream", async () => {
      await using server = await loopbackServer((response) => {
        response.writeHead(200, open).write(eventStream(answers[api].slice(0, 3)), () => response.socket?.destroy());
      });
      await expect(answerOf(at(server.origin, { api, ...transport }))).rejects.toMatchObject({
        code: "MODEL_STREAM_BROKEN",
        retryable: true,
      });
    });

    it("trap 4: leaving the stream closes the connection", async () => {
      await using server = await loopbackServer(
        (response) => void response.writeHead(200, open).write(eventStream(answers[api].slice(0, 3))),
      );
      for await (const _chunks of at(server.origin, { api, ...transport }).stream(request, {
        signal: new AbortController().signal,
        attempt: 1,
      }))
        break;
      await server.clientLeft;
    });

    it("what breaks after the vendor's last event breaks nothing", async () => {
      await using server = await loopbackServer((response) => {
        response.writeHead(200, open).write(eventStream(answers[api]), () => response.socket?.destroy());
      });
      expect((await answerOf(at(server.origin, { api, ...transport }))).ended?.stopReason).toBe("stop");
    });
  });

  it("trap 3: sets no time-out of its own", async () => {
    const delays: unknown[] = [];
    const set = globalThis.setTimeout;
    // Other code of this process may set timers meanwhile: those of the SDK and of this package count.
    const timers = vi.spyOn(globalThis, "setTimeout").mockImplementation(((...call: Parameters<typeof set>) => {
      if (/openai(?!\.test)/.test(new Error().stack ?? "")) delays.push(call[1]);
      return set(...call);
    }) as typeof set);
    await answerOf(openai({ apiKey, api, baseURL: "https://api.openai.com/v1", transport: noting().fetch }));
    timers.mockRestore();
    expect(delays).toEqual([]);
  });

  it("lets the SDK build what requests have in common once, whatever a transport does with the headers it is given", async () => {
    const { OpenAI } = await import("openai");
    const building = vi.spyOn(OpenAI.prototype, "buildRequest");
    const own = noting();
    const writing: typeof fetch = (input, init) => {
      const answer = own.fetch(input, init);
      (init?.headers as Record<string, string>)["authorization"] = "Bearer of the transport";
      return answer;
    };
    const provider = openai({ apiKey, api, baseURL: "https://api.openai.com/v1", transport: writing, headers: { "x-team": "blue" } });
    for (let turn = 0; turn < 3; turn++) await answerOf(provider);
    const built = building.mock.calls.length;
    building.mockRestore();
    expect(built).toBe(1);
    const written = own.asked.map(({ headers }) => ["authorization", "content-type", "x-team"].map((name) => headers.get(name)));
    expect(written).toEqual(Array.from({ length: 3 }, () => [`Bearer ${apiKey}`, "application/json", "blue"]));
    expect(own.asked[0]?.headers.get("user-agent")).toContain("OpenAI");
  });

  it("trap 6: the SDK does not retry", async () => {
    await using server = await loopbackServer(json(500, { error: { message: "The server had an error", type: "server_error" } }));
    await expect(answerOf(at(server.origin, { api }))).rejects.toMatchObject({ code: "MODEL_OVERLOADED", retryable: true });
    expect(server.asked.length).toBe(1);
  });

  it.each([
    [429, { error: { message: "Rate limit reached", type: "requests", code: "rate_limit_exceeded" } }, "MODEL_RATE_LIMITED"],
    [429, { error: { message: "You exceeded your current quota", code: "insufficient_quota" } }, "MODEL_QUOTA_EXHAUSTED"],
    [401, { error: { message: `Incorrect API key provided: ${apiKey}.`, code: "invalid_api_key" } }, "MODEL_AUTH"],
    [404, { error: { message: "The model does not exist", code: "model_not_found" } }, "MODEL_NOT_FOUND"],
    [400, { error: { message: "maximum context length is 8192 tokens", code: "context_length_exceeded" } }, "CONTEXT_OVERFLOW"],
    [400, { detail: "no" }, "MODEL_BAD_REQUEST"],
    [503, "<html><title>503 Service Unavailable</title></html>", "MODEL_OVERLOADED"],
  ])("maps status %i with %j to %s, without the key", async (status, body, code) => {
    await using server = await loopbackServer(json(status, body, { "retry-after": "7" }));
    const thrown = await answerOf(at(server.origin, { api })).catch((error: unknown) => error);
    expect(isAgentError(thrown) && thrown).toMatchObject({ code, retryAfterMs: 7_000 });
    expect(JSON.stringify({ ...(thrown as Error), message: (thrown as Error).message, cause: (thrown as Error).cause })).not.toContain(
      apiKey,
    );
  });

  it.each([
    ["an error object", { error: { message: "Overloaded now", type: "server_error", code: "server_error" } }],
    ["an event of type error", { type: "error", code: "server_error", message: "Overloaded now", param: null }],
    ["an event of type error around an object", { type: "error", error: { type: "server_error", message: "Overloaded now" } }],
  ])("trap 5: %s inside a stream is an error, with and without an SSE event of that name", async (_, body) => {
    for (const event of [body, ["error", body] as const]) {
      if (api === "chat" && !("error" in body) && event === body) continue;
      await using server = await loopbackServer(streaming(...answers[api].slice(0, 3), event));
      const error = await answerOf(at(server.origin, { api })).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "MODEL_OVERLOADED" });
      expect(vendorMessageOf(error)).toContain("Overloaded now");
    }
  });

  it.each([
    ["an error with status 200", json(200, { error: { message: "Overloaded now", type: "server_error" } }), "MODEL_OVERLOADED"],
    [
      "a page of HTML",
      (response: ServerResponse) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      "MODEL_PROTOCOL",
    ],
    ["other JSON", json(200, { hello: 1 }), "MODEL_PROTOCOL"],
    ["JSON null", json(200, null), "MODEL_PROTOCOL"],
    ["broken JSON in the stream", streaming("{broken"), "MODEL_PROTOCOL"],
    ["a stream of nothing", streaming(), "MODEL_STREAM_BROKEN"],
    ["a stream of null", streaming("null"), "MODEL_PROTOCOL"],
  ])("gives a clear error for %s", async (_, answer, code) => {
    await using server = await loopbackServer(answer);
    await expect(answerOf(at(server.origin, { api }))).rejects.toMatchObject({ code });
  });

  it("takes a whole answer from a server that does not stream", async () => {
    const whole = {
      chat: { choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] },
      responses: { status: "completed", output: [{ type: "message", content: [{ type: "output_text", text: "Hi" }] }] },
    };
    await using server = await loopbackServer(json(200, whole[api]));
    expect((await answerOf(at(server.origin, { api }))).parts).toEqual([{ type: "text", text: "Hi" }]);
  });

  it("C20, C21: sends the organisation and the project", async () => {
    vi.stubEnv("OPENAI_ORG_ID", "org-of-the-environment");
    const own = noting();
    await answerOf(openai({ apiKey, api, baseURL: "https://api.openai.com/v1", project: "p", transport: own.fetch }));
    await answerOf(openai({ apiKey, api, baseURL: "https://api.openai.com/v1", organization: "o", transport: own.fetch }));
    expect(own.asked.map(({ headers }) => [headers.get("openai-organization"), headers.get("openai-project")])).toEqual([
      ["org-of-the-environment", "p"],
      ["o", null],
    ]);
  });
});

describe("openai", () => {
  it("takes at most 128 tools, so that no agent with more is made; other servers have limits of their own", () => {
    vi.stubEnv("OPENAI_BASE_URL", undefined);
    const tools = Array.from({ length: 129 }, (_, place) =>
      defineTool({ name: `act${place}`, description: "Acts.", parameters: { type: "object" } }),
    );
    const made = (count: number, options: OpenAiOptions = {}) =>
      createAgent({ name: "a", provider: openai(options), tools: tools.slice(0, count) });
    expect(made(128).tools).toHaveLength(128);
    expect(made(129, { baseURL: "http://127.0.0.1:9/v1", model: "m" }).tools).toHaveLength(129);
    expect(() => made(129)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("129") }));
  });

  it("speaks responses to OpenAI itself and chat to any other server", async () => {
    const own = noting();
    await answerOf(openai({ apiKey, baseURL: "https://api.openai.com/v1", transport: own.fetch }));
    await answerOf(openai({ apiKey, baseURL: "https://llm.example.test/v1", transport: own.fetch }));
    expect(own.asked.map(({ url }) => url)).toEqual([
      "https://api.openai.com/v1/responses",
      "https://llm.example.test/v1/chat/completions",
    ]);
  });

  it("trap 7: does not use the environment variables of OpenAI for other servers", async () => {
    vi.stubEnv("OPENAI_API_KEY", "the key of OpenAI");
    vi.stubEnv("OPENAI_ORG_ID", "org");
    vi.stubEnv("OPENAI_PROJECT_ID", "project");
    vi.stubEnv("GROQ_API_KEY", "the key of Groq");
    const own = noting();
    await answerOf(openai({ baseURL: "https://api.groq.com/openai/v1", transport: own.fetch }));
    const { headers } = own.asked[0] ?? { headers: new Headers() };
    expect(headers.get("authorization")).toBe("Bearer the key of Groq");
    expect([...headers.keys()].filter((name) => name.startsWith("openai-"))).toEqual([]);
  });

  it("names the variable when the key is missing, before any request", async () => {
    vi.stubEnv("OPENAI_API_KEY", "");
    vi.stubEnv("MISTRAL_API_KEY", "");
    const own = noting();
    const missing = { code: "MODEL_KEY_MISSING", fix: expect.stringContaining("OPENAI_API_KEY") };
    await expect(answerOf(openai({ baseURL: "https://api.openai.com/v1", transport: own.fetch }))).rejects.toMatchObject(missing);
    const mistral = answerOf(openai({ baseURL: "https://api.mistral.ai/v1", transport: own.fetch }));
    await expect(mistral).rejects.toMatchObject({ fix: expect.stringContaining("MISTRAL_API_KEY") });
    expect(own.asked).toEqual([]);
  });

  it("needs no key for a server on this machine, and sends none", async () => {
    vi.stubEnv("OPENAI_API_KEY", "");
    await using server = await loopbackServer(streaming(...chatAnswer));
    expect((await answerOf(openai({ baseURL: `${server.origin}/v1` }))).parts).toHaveLength(1);
    expect(server.asked[0]?.headers.authorization).toBeUndefined();
  });

  it("reads the key with the first call, not before", async () => {
    const own = noting();
    const provider = openai({ baseURL: "https://api.openai.com/v1", transport: own.fetch });
    vi.stubEnv("OPENAI_API_KEY", "a later key");
    await answerOf(provider);
    expect(own.asked[0]?.headers.get("authorization")).toBe("Bearer a later key");
  });

  it("refuses a base URL that is none and a server without a model", async () => {
    await expect(answerOf(openai({ apiKey, baseURL: "example" }))).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    const nameless = openai({ apiKey, baseURL: "http://127.0.0.1:9/v1" });
    expect(nameless.defaultModel).toBe("");
    await expect(answerOf(nameless, { ...request, model: "" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("reports a port without a listener", async () => {
    await expect(answerOf(openai({ apiKey, baseURL: "http://127.0.0.1:9/v1" }))).rejects.toMatchObject({ code: "MODEL_UNREACHABLE" });
  });

  it("D37: a content filter ends the answer as an error with a sentence", async () => {
    await using server = await loopbackServer(streaming(chatChunk({ content: "Well" }), chatChunk({}, "content_filter"), "[DONE]"));
    expect((await answerOf(at(server.origin))).ended).toMatchObject({
      stopReason: "error",
      raw: "content_filter",
      message: expect.stringContaining("filter"),
    });
  });

  it("costs nothing until it is used: importing the package and making a provider loads no SDK", () => {
    const door = fileURLToPath(new URL("./index.ts", import.meta.url));
    const script = `
      import { registerHooks } from "node:module";
      const seen = [];
      registerHooks({ load: (url, context, next) => { seen.push(url); return next(url, context); } });
      const { openai } = await import(${JSON.stringify(door)});
      openai({ apiKey: "k" }).capabilities("gpt-5");
      const before = seen.filter((url) => url.includes("node_modules/openai")).length;
      await openai({ apiKey: "k", baseURL: "http://127.0.0.1:9/v1" }).stream({ model: "m", messages: [] }, { signal: new AbortController().signal }).next().catch(() => {});
      console.log(before, seen.some((url) => url.includes("node_modules/openai")));
    `;
    const output = execFileSync(process.execPath, ["--conditions=@loopwright/source", "--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect(output.trim()).toBe("0 true");
  });
});
