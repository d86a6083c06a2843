import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createAssembler, type ModelChunk, vendorMessageOf } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { loopbackServer } from "@loopwright/provider-kit/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ollama, ollamaAddress } from "../src/index.ts";

const answer = readFileSync(new URL("fixtures/answer.ndjson", import.meta.url), "utf8");
const lines = answer
  .split("\n")
  .slice(0, -1)
  .map((line) => `${line}\n`);
const request: ModelRequest = { model: "qwen3:4b", messages: [{ role: "user", content: "the secret plan" }] };
const open = { "content-type": "application/x-ndjson" };

async function run(provider: ModelProvider, asked = request, signal = new AbortController().signal): Promise<readonly ModelChunk[]> {
  const all: ModelChunk[] = [];
  for await (const chunks of provider.stream(asked, { signal, attempt: 1 })) all.push(...chunks);
  return all;
}

const whole = (response: ServerResponse): void => void response.writeHead(200, open).end(answer);
const canned = (body: string): ModelProvider => ollama({ transport: async () => new Response(body, { headers: open }) });

afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each([
  ["the global fetch", {}],
  ["node:http", { transport: nodeHttp() }],
])("over %s", (_, transport) => {
  it("A36: asks /api/chat for a stream and gives its blocks, its usage and one end", async () => {
    await using server = await loopbackServer(whole);
    const assembler = createAssembler();
    for (const chunk of await run(ollama({ baseURL: `${server.origin}/`, ...transport }))) assembler.push(chunk);
    expect(assembler.finish("r.1")).toEqual({
      parts: [
        { type: "thinking", text: "Let me look.", opaque: { vendor: "ollama", data: {} } },
        { type: "text", text: "It is twelve." },
        { type: "tool_call", callKey: "r.1.0", id: "r.1.0", name: "look", args: { at: 12 } },
        { type: "tool_call", callKey: "r.1.1", id: "r.1.1", name: "now", args: {} },
      ],
      usage: { input: 12, output: 9 },
      ended: { stopReason: "tool_calls", raw: "stop", model: "qwen3:4b" },
    });
    expect(server.asked).toMatchObject([{ url: "/api/chat", body: { stream: true, model: "qwen3:4b" } }]);
    expect(server.asked[0]?.headers).not.toHaveProperty("authorization");
  });

  it.each([0, 1, 5])("D38: an abort after %i lines throws the signal's own reason and never ends as if complete", async (sent) => {
    await using server = await loopbackServer((response) => {
      if (sent === 0) queueMicrotask(() => control.abort(reason));
      else response.writeHead(200, open).write(lines.slice(0, sent).join(""));
    });
    const control = new AbortController();
    const reason = new Error("stopped by a person");
    const seen: ModelChunk[] = [];
    const reading = (async () => {
      for await (const chunks of ollama({ baseURL: server.origin, ...transport }).stream(request, {
        signal: control.signal,
        attempt: 1,
      })) {
        seen.push(...chunks);
        control.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(seen.some(({ type }) => type === "end")).toBe(false);
  });

  it("a server that does not run is reported as unreachable, with what to do", async () => {
    await expect(run(ollama({ baseURL: "http://user:secret@127.0.0.1:1", ...transport }))).rejects.toMatchObject({
      code: "MODEL_UNREACHABLE",
      fix: "Check that Ollama runs at http://127.0.0.1:1 (`ollama serve`), or set OLLAMA_HOST.",
    });
  });
});

describe("ends", () => {
  it.each(lines.map((_, count) => count))("a stream that ends cleanly after %i lines is broken", async (count) => {
    await expect(run(canned(lines.slice(0, count).join("")))).rejects.toMatchObject({ code: "MODEL_STREAM_BROKEN" });
  });

  it.each([
    ["length", "length"],
    ["stop", "stop"],
    ["load", "stop"],
  ])("A40: done_reason %s means %s", async (raw, stopReason) => {
    const chunks = await run(canned(`{"message":{"content":"hi"},"done":true,"done_reason":"${raw}"}\n`));
    expect(chunks.at(-1)).toEqual({ type: "end", stopReason, raw });
  });

  it("A38: usage is unknown when the server reports nothing, and partly when it reports a part", async () => {
    expect((await run(canned('{"done":true}'))).some(({ type }) => type === "usage")).toBe(false);
    expect(await run(canned('{"done":true,"eval_count":3}'))).toContainEqual({ type: "usage", usage: { output: 3 } });
  });

  it("what follows the end is ignored, and a last line without its end counts", async () => {
    expect((await run(canned(`${lines.at(-1)}{"message":{"content":"more"}}\n`))).at(-1)).toMatchObject({ type: "end" });
    expect((await run(canned((lines.at(-1) ?? "").trim()))).at(-1)).toMatchObject({ type: "end" });
  });

  it("text and thinking that alternate are blocks of their own", async () => {
    const written = (message: object): string => `${JSON.stringify({ message })}\n`;
    const chunks = await run(
      canned(
        `${written({ content: "a" })}${written({ thinking: "b" })}${written({ content: "c" })}${written({ content: "d" })}{"done":true}\n`,
      ),
    );
    expect(chunks.flatMap((chunk) => (chunk.type === "text" || chunk.type === "thinking" ? [[chunk.index, chunk.delta]] : []))).toEqual([
      [0, "a"],
      [1, "b"],
      [2, "c"],
      [2, "d"],
    ]);
  });

  it("A41: without streaming there is one call and one batch", async () => {
    await using server = await loopbackServer((response) => void response.end(lines.at(-2)?.replace('"done":false', '"done":true')));
    const batches: (readonly ModelChunk[])[] = [];
    const provider = ollama({ baseURL: server.origin, capabilities: { streaming: false } });
    for await (const chunks of provider.stream(request, { signal: new AbortController().signal, attempt: 1 })) batches.push(chunks);
    expect(batches.length).toBe(1);
    expect(server.asked[0]?.body["stream"]).toBe(false);
  });
});

describe("errors", () => {
  it.each([
    ["as text", '{"error":"an error was encountered while running the model"}', "an error was encountered while running the model"],
    ["as an object", '{"error":{"message":"out of memory"}}', "out of memory"],
  ])("%s in the middle of a stream reach the operator's log verbatim", async (_, line, words) => {
    const error = await run(canned(`${lines[0]}${line}\n`)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "MODEL_OVERLOADED", message: "Ollama reported an error: the vendor is overloaded or failing" });
    expect(vendorMessageOf(error)).toBe(words);
  });

  it.each([
    [400, '{"error":"registry.ollama.ai/library/gemma3:4b does not support tools"}', "MODEL_BAD_REQUEST"],
    [404, '{"error":"model \'x\' not found"}', "MODEL_NOT_FOUND"],
    [401, '{"error":{"message":"no key-of-a-gateway"}}', "MODEL_AUTH"],
    [500, '{"error":{"code":500}}', "MODEL_OVERLOADED"],
    [503, "<html><title>Busy</title>", "MODEL_OVERLOADED"],
  ])("status %i with %s becomes %s", async (status, body, code) => {
    await using server = await loopbackServer((response) => void response.writeHead(status).end(body));
    const error: unknown = await run(ollama({ baseURL: server.origin, apiKey: "key-of-a-gateway" })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, details: { status } });
    expect(JSON.stringify(error) + String(error)).not.toMatch(/key-of-a-gateway|secret plan|\[object Object\]/);
    expect(server.asked.length).toBe(1);
  });

  it("a model that is not there can be fetched", async () => {
    await using server = await loopbackServer((response) => void response.writeHead(404).end('{"error":"model \'x\' not found"}'));
    await expect(run(ollama({ baseURL: server.origin }))).rejects.toMatchObject({
      fix: "Fetch the model with `ollama pull`, or check its name.",
    });
  });

  it("lines that are no JSON are a breach of protocol", async () => {
    await expect(run(canned('{"message":\n'))).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
    const unstreamed = { ...request, stream: false };
    await expect(run(canned("{}"), unstreamed)).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
  });
});

describe("the address", () => {
  it.each([
    ["", "http://127.0.0.1:11434"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:8080", "http://127.0.0.1:8080"],
    [":8080", "http://127.0.0.1:8080"],
    ["box", "http://box:11434"],
    ["box:80", "http://box"],
    ['"box:1234/path/"', "http://box:1234/path"],
    ["[::]:8080", "http://[::1]:8080"],
    ["::1", "http://[::1]:11434"],
    ["::", "http://[::1]:11434"],
    ["[fe80::1]", "http://[fe80::1]:11434"],
    ["box:", "http://box:11434"],
    ["box:99999", "http://box:11434"],
    ["box:http", "http://box:11434"],
    [" 'box' ", "http://box:11434"],
    ["ollama.com", "https://ollama.com"],
    ["me:secret@box", "http://me:secret@box:11434"],
    ["HTTP://Box", "http://box"],
    ["http://:8080", "http://127.0.0.1:8080"],
    ["http://0.0.0.0:11434/", "http://127.0.0.1:11434"],
    ["http://box:11434//", "http://box:11434"],
    ["https://box", "https://box"],
    ["https://box:11434/path", "https://box:11434/path"],
    ["http://box", "http://box"],
    ["https://ollama.example/", "https://ollama.example"],
  ])("%s means %s", (host, expected) => {
    expect(ollamaAddress(host)).toBe(expected);
  });

  it("that is none is a wrong setting", () => {
    for (const host of ["a b", "unix:///run/ollama", "http://[", "[:::]"])
      expect(() => ollamaAddress(host), host).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  it("comes from OLLAMA_HOST at the first call", async () => {
    await using server = await loopbackServer(whole);
    const provider = ollama();
    vi.stubEnv("OLLAMA_HOST", server.origin.slice("http://".length));
    await run(provider);
    expect(server.asked.length).toBe(1);
  });

  it("may hold a name and a password, which travel in a header", async () => {
    await using server = await loopbackServer(whole);
    await run(ollama({ baseURL: server.origin.replace("//", "//me:p%40ss@") }));
    expect(server.asked[0]?.headers.authorization).toBe(`Basic ${Buffer.from("me:p@ss").toString("base64")}`);
  });

  it("gets a key of the environment only over a connection that cannot be read by others", async () => {
    vi.stubEnv("OLLAMA_API_KEY", "key-of-the-environment");
    const seen: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (_input, init) => {
      seen.push(new Headers(init?.headers).get("authorization"));
      return new Response(answer);
    };
    for (const baseURL of ["http://127.0.0.1:1", "https://ollama.example"]) await run(ollama({ baseURL, transport: fetch }));
    expect(seen).toEqual([null, "Bearer key-of-the-environment"]);
  });
});
