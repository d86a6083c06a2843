import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createAgent, createAssembler, createSession, execute, type ModelChunk, vendorMessageOf } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { loopbackServer } from "@loopwright/provider-kit/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type AnthropicOptions, anthropic } from "../src/index.ts";

const answer = readFileSync(new URL("fixtures/text-answer.sse", import.meta.url), "utf8");
const events = answer
  .split("\n\n")
  .slice(0, -1)
  .map((event) => `${event}\n\n`);
const request: ModelRequest = { model: "claude-sonnet-4-6", messages: [{ role: "user", content: "the secret plan" }] };
const key = "sk-ant-test-0123456789";
const open = { "content-type": "text/event-stream" };

async function run(provider: ModelProvider, asked = request, signal = new AbortController().signal): Promise<readonly ModelChunk[]> {
  const all: ModelChunk[] = [];
  for await (const chunks of provider.stream(asked, { signal, attempt: 1 })) all.push(...chunks);
  return all;
}

function at(baseURL: string, more: AnthropicOptions = {}): ModelProvider {
  return anthropic({ apiKey: key, baseURL, ...more });
}

const whole = (response: ServerResponse): void => void response.writeHead(200, open).end(answer);
const failing =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe.each([
  ["the global fetch", {}],
  ["node:http", { transport: nodeHttp() }],
])("over %s", (_, transport) => {
  it("A36, A42: asks /v1/messages for a stream and gives its blocks, its usage and one end", async () => {
    await using server = await loopbackServer(whole);
    const assembler = createAssembler();
    for (const chunk of await run(at(server.origin, transport))) assembler.push(chunk);
    expect(assembler.finish("r.1")).toEqual({
      parts: [
        { type: "text", text: "It is twelve." },
        { type: "tool_call", callKey: "r.1.0", id: "toolu_1", name: "look", args: { at: 12 } },
      ],
      usage: { input: 12, cacheRead: 0, cacheWrite: 0, output: 9 },
      ended: { stopReason: "tool_calls", raw: "tool_use", model: "claude-sonnet-4-6" },
    });
    expect(server.asked).toMatchObject([
      { url: "/v1/messages", headers: { authorization: `Bearer ${key}` }, body: { stream: true, model: "claude-sonnet-4-6" } },
    ]);
  });

  it("uses connections again for calls that follow each other", async () => {
    await using server = await loopbackServer(whole);
    const provider = at(server.origin, transport);
    for (let count = 0; count < 6; count++) await run(provider);
    // A second one where the next call was quicker than the end of the first answer's body.
    expect(server.asked.length).toBe(6);
    expect(server.connectionCount).toBeLessThanOrEqual(2);
  });

  it.each([0, 3, 8])("D38: an abort after %i events throws the signal's own reason and never ends as if complete", async (sent) => {
    await using server = await loopbackServer((response) => {
      if (sent === 0) queueMicrotask(() => control.abort(reason));
      else response.writeHead(200, open).write(events.slice(0, sent).join(""));
    });
    const control = new AbortController();
    const reason = new Error("stopped by a person");
    const seen: ModelChunk[] = [];
    const reading = (async () => {
      for await (const chunks of at(server.origin, transport).stream(request, { signal: control.signal, attempt: 1 })) {
        seen.push(...chunks);
        control.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(seen.some(({ type }) => type === "end")).toBe(false);
  });

  it("a refused connection is reported as unreachable", async () => {
    await expect(run(at("http://127.0.0.1:1", transport))).rejects.toMatchObject({ code: "MODEL_UNREACHABLE", retryable: true });
  });
});

describe("ends", () => {
  it.each(events.slice(0, -1).map((_, count) => count))("a stream that ends cleanly after %i events is broken", async (count) => {
    const fetch = async (): Promise<Response> => new Response(events.slice(0, count).join(""), { headers: open });
    await expect(run(anthropic({ apiKey: key, transport: fetch }))).rejects.toMatchObject({ code: "MODEL_STREAM_BROKEN" });
  });

  it("an event that is no JSON is a breach of protocol", async () => {
    const fetch = async (): Promise<Response> => new Response(`${events[0]}data: {"type":\n\n`, { headers: open });
    await expect(run(anthropic({ apiKey: key, transport: fetch }))).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
  });

  it("A41: without streaming there is one call and one batch, as there is for a gateway that ignores the wish", async () => {
    const body = JSON.stringify({
      type: "message",
      model: "m",
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      usage: { output_tokens: 1 },
    });
    await using server = await loopbackServer(failing(200, body));
    for (const provider of [at(server.origin, { capabilities: { streaming: false } }), at(server.origin)]) {
      const batches: (readonly ModelChunk[])[] = [];
      for await (const chunks of provider.stream(request, { signal: new AbortController().signal, attempt: 1 })) batches.push(chunks);
      expect(batches).toEqual([
        [
          { type: "text", index: 0, delta: "hi" },
          { type: "block-end", index: 0 },
          { type: "usage", usage: { output: 1 } },
          { type: "end", stopReason: "stop", raw: "end_turn", model: "m" },
        ],
      ]);
    }
    expect(server.asked.map(({ body: { stream } }) => stream)).toEqual([undefined, true]);
  });

  it("the signal of a long session keeps no listener", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await run(anthropic({ apiKey: key, transport: async () => new Response(answer, { headers: open }) }), request, signal);
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed).toHaveBeenCalledTimes(1);
  });
});

it("an error behind text in one read of the socket leaves the text to the session and its watchers, and the tokens to the bill", async () => {
  const text = "Text that has come. ".repeat(18);
  const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
  const body = [
    frame({ type: "message_start", message: { model: "m", usage: { input_tokens: 40, output_tokens: 1 } } }),
    frame({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    frame({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    frame({ type: "error", error: { type: "invalid_request_error", message: "No more." } }),
  ].join("");
  const provider = anthropic({ apiKey: key, transport: async () => new Response(body, { headers: open }) });
  const session = createSession({ agent: createAgent({ name: "tester", provider }) });
  const stream = execute(session, "Go.");
  let notified = "";
  for await (const event of stream) if (event.type === "text_delta") notified += event.delta;
  const { status, usage, messages } = await stream.result();
  expect({ status, notified, usage }).toMatchObject({ status: "error", notified: text, usage: { input: 40, output: 1 } });
  expect(messages.at(-1)).toMatchObject({ role: "assistant", content: [{ type: "text", text }], stopReason: "error" });
});

it("a signature that the vendor refuses costs one more request, and the session continues without it", async () => {
  const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
  const writing = (text: string): string =>
    [
      frame({ type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } }),
      frame({ type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } }),
      frame({ type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: `sealed ${text}` } }),
      frame({ type: "content_block_stop", index: 0 }),
      frame({ type: "content_block_start", index: 1, content_block: { type: "text", text } }),
      frame({ type: "content_block_stop", index: 1 }),
      frame({ type: "message_delta", delta: { stop_reason: "end_turn" } }),
      frame({ type: "message_stop" }),
    ].join("");
  const message = "messages.1.content.0: Invalid `signature` in `thinking` block";
  const bodies: string[] = [];
  const transport: typeof fetch = async (_, init) => {
    bodies.push(String(init?.body));
    if (!bodies.at(-1)?.includes("sealed First."))
      return new Response(writing(bodies.length === 1 ? "First." : "Next."), { headers: open });
    return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });
  };
  const provider = anthropic({ apiKey: key, transport, model: "claude-sonnet-4-6" });
  const session = createSession({ agent: createAgent({ name: "tester", provider, reasoning: { effort: "low" } }) });
  const ends = [];
  for (const text of ["a", "b", "c"]) ends.push((await execute(session, text).result()).status);
  expect(ends).toEqual(["completed", "completed", "completed"]);
  expect(bodies.map((body) => body.match(/sealed \w+/g))).toEqual([null, ["sealed First"], null, ["sealed Next"]]);
});

it("the vendor's sentence about a refused request, and its id, reach the operator's log and no caller", async () => {
  const body = { type: "error", error: { type: "invalid_request_error", message: `I do not like "the secret plan" of ${btoa(key)}.` } };
  const transport: typeof fetch = async () => Response.json(body, { status: 400, headers: { "request-id": "req_011CUdL49" } });
  const log = vi.fn();
  const agent = createAgent({ name: "tester", provider: anthropic({ apiKey: key, transport }) });
  const session = createSession({ agent, logger: { log } });
  const stream = execute(session, "the secret plan");
  const notified: unknown[] = [];
  for await (const event of stream) if (!("message" in event)) notified.push(event);
  const { status, error } = await stream.result();
  const message = "Anthropic answered with status 400: the vendor refused the request as malformed (request req_011CUdL49)";
  expect({ status, error }).toMatchObject({ status: "error", error: { code: "MODEL_BAD_REQUEST", message } });
  expect(JSON.stringify([notified, error])).not.toContain("I do not like");
  const [, , seen] = log.mock.calls.find(([, text]) => text === "A vendor answered a model call with an error.") ?? [];
  expect(seen).toMatchObject({ code: "MODEL_BAD_REQUEST", error: message });
  expect(seen.vendorMessage).toContain('I do not like "the secret plan" of [removed]');
});

describe("errors", () => {
  it.each([
    [401, "authentication_error", "MODEL_AUTH", false],
    [402, "billing_error", "MODEL_QUOTA_EXHAUSTED", false],
    [404, "not_found_error", "MODEL_NOT_FOUND", false],
    [413, "request_too_large", "CONTEXT_OVERFLOW", false],
    [429, "rate_limit_error", "MODEL_RATE_LIMITED", true],
    [500, "api_error", "MODEL_OVERLOADED", true],
    [504, "timeout_error", "MODEL_TIMEOUT", true],
    [529, "overloaded_error", "MODEL_OVERLOADED", true],
  ])("status %i is asked once and becomes %s -> %s", async (status, type, code, retryable) => {
    const body = JSON.stringify({ type: "error", error: { type, message: `Because of ${key}.` } });
    await using server = await loopbackServer(failing(status, body, { "retry-after": "7" }));
    const error: unknown = await run(at(server.origin)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, retryable, retryAfterMs: 7_000, details: { status, type } });
    expect(JSON.stringify(error) + String(error)).not.toMatch(/sk-ant|secret plan/);
    expect(server.asked.length).toBe(1);
  });

  it("a prompt that is too long is distinguished from other bad requests", async () => {
    const body = JSON.stringify({
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 3 tokens > 2 maximum" },
    });
    await using server = await loopbackServer(failing(400, body));
    await expect(run(at(server.origin))).rejects.toMatchObject({ code: "CONTEXT_OVERFLOW" });
  });

  it("a proxy's page gives its title to the operator", async () => {
    await using server = await loopbackServer(
      (response) => void response.writeHead(502, { "content-type": "text/html" }).end("<html><title>Bad gateway</title></html>"),
    );
    const error = await run(at(server.origin)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "MODEL_OVERLOADED",
      message: "Anthropic answered with status 502: the vendor is overloaded or failing",
    });
    expect(vendorMessageOf(error)).toBe("Bad gateway");
  });

  it("a missing key is named by its variable before any request, and found when it is there", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", " ");
    await using server = await loopbackServer(whole);
    const provider = anthropic({ baseURL: server.origin });
    await expect(run(provider)).rejects.toMatchObject({ code: "MODEL_KEY_MISSING", message: expect.stringContaining("ANTHROPIC_API_KEY") });
    expect(server.asked).toEqual([]);
    vi.stubEnv("ANTHROPIC_API_KEY", `${key}\n`);
    await run(provider);
    expect(server.asked[0]?.headers.authorization).toBe(`Bearer ${key}`);
  });

  it("a key that no header can carry is refused without being shown", async () => {
    const error: unknown = await run(anthropic({ apiKey: "sk-ant-zwölf" })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "MODEL_AUTH" });
    expect(String(error)).not.toContain("zw");
  });

  it("A62: an image without vision makes no request", async () => {
    await using server = await loopbackServer(whole);
    const image: ModelRequest = {
      ...request,
      messages: [{ role: "user", content: [{ type: "image", mediaType: "image/png", source: { data: "aGk=" } }] }],
    };
    await expect(run(at(server.origin, { capabilities: { vision: false } }), image)).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    expect(server.asked).toEqual([]);
  });
});

describe("traps of the SDK", () => {
  it("the environment changes neither address nor credential", async () => {
    vi.stubEnv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "token-of-the-environment");
    vi.stubEnv("ANTHROPIC_API_KEY", "key-of-the-environment");
    await using server = await loopbackServer(whole);
    await run(at(server.origin));
    expect(server.asked[0]?.headers.authorization).toBe(`Bearer ${key}`);
  });

  it("a gateway's token goes in place of the key", async () => {
    await using server = await loopbackServer(whole);
    await run(anthropic({ authToken: "token", baseURL: server.origin, headers: { "anthropic-beta": "a-beta" } }));
    expect(server.asked[0]?.headers).toMatchObject({ authorization: "Bearer token", "anthropic-beta": "a-beta" });
  });

  it("compatible servers get the older version of the API where asked, and the key as it was sent then", async () => {
    await using server = await loopbackServer(whole);
    await run(at(server.origin, { version: "2023-06-01" }));
    await run(at(server.origin));
    expect(server.asked.map(({ headers }) => [headers["anthropic-version"], headers["x-api-key"], headers.authorization])).toEqual([
      ["2023-06-01", key, undefined],
      ["2026-10-21", undefined, `Bearer ${key}`],
    ]);
  });

  it("the header of a beta stands beside those that the caller asks for, and only for models that need it", async () => {
    await using server = await loopbackServer(whole);
    const provider = at(server.origin, { headers: { "Anthropic-Beta": "a-beta" } });
    for (const model of ["claude-sonnet-5-5", "claude-sonnet-4-6"]) await run(provider, { ...request, model });
    expect(server.asked.map(({ headers }) => headers["anthropic-beta"])).toEqual(["a-beta,thinking-binding-controls-2026-08-01", "a-beta"]);
  });

  it("nothing is written to the console, whatever the model and the log level", async () => {
    vi.stubEnv("ANTHROPIC_LOG", "debug");
    const written = (["log", "info", "warn", "error", "debug"] as const).map((name) => vi.spyOn(console, name).mockReturnValue());
    await using server = await loopbackServer(whole);
    for (const model of ["claude-opus-4-1", "claude-opus-4-6", "claude-opus-4-0"]) {
      await run(at(server.origin), { ...request, model, reasoning: { effort: "high" } });
    }
    expect(written.flatMap((spy) => spy.mock.calls)).toEqual([]);
  });

  it("an answer of any size may be asked for without a stream", async () => {
    await using server = await loopbackServer(failing(200, JSON.stringify({ content: [], stop_reason: "end_turn" })));
    await run(at(server.origin), { ...request, model: "claude-opus-4-6", maxTokens: 128_000, stream: false });
    expect(server.asked[0]?.body["max_tokens"]).toBe(128_000);
  });

  it("no timer of the SDK can end a call", async () => {
    const delays: number[] = [];
    const set = globalThis.setTimeout;
    // Other code of this process may set timers meanwhile.
    vi.spyOn(globalThis, "setTimeout").mockImplementation(((...call: Parameters<typeof set>) => {
      if (new Error().stack?.includes("@anthropic-ai")) delays.push(call[1] ?? 0);
      return set(...call);
    }) as typeof set);
    await run(anthropic({ apiKey: key, transport: async () => new Response(answer, { headers: open }) }));
    expect(delays.filter((delay) => delay <= 2 ** 30)).toEqual([]);
  });

  it("the SDK is not loaded before the first call", () => {
    const script = `
      const { registerHooks } = await import("node:module");
      const loaded = [];
      registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
      const { anthropic } = await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)});
      anthropic({ apiKey: "k" }).capabilities("claude-sonnet-5-5");
      console.log(loaded.filter((url) => url.includes("@anthropic-ai")).length, loaded.length > 3);`;
    const printed = execFileSync(process.execPath, ["--conditions=@loopwright/source", "--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect(printed.trim()).toBe("0 true");
  });
});
