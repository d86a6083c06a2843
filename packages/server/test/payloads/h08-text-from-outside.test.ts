import { AgentError } from "@loopwright/core";
import { consoleLogger } from "@loopwright/core/memory";
import type { Notification } from "@loopwright/core/ports";
import type { Problem } from "@loopwright/core/protocol";
import { describe, expect, it, vi } from "vitest";
import { plainDialect } from "../plain-dialect.ts";
import { pickColour, scriptedAgent } from "../test-server.ts";
import { type Frame, framesIn, framesOf } from "./frames-of.ts";
import { payloadScene } from "./payload-scene.ts";
import { json, rawExchange, requestText } from "./raw-exchange.ts";

const named: readonly (readonly [name: string, text: string])[] = [
  ["script", "</script><img src=x onerror=alert(1)>"],
  ["escapes of terminals", "\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b31m"],
  ["text that turns round", "abc\u202egpj.exe\u2066\u200f"],
  ["an event with CR and LF", "\r\nevent: evil\r\ndata: {}\r\n\r\n"],
  ["a last event with LF", "\n\nid: 99.0\nevent: execute_complete\ndata: {}\n\n"],
  ["a field with CR", "\r\rretry: 1\r\r"],
  ["line ends of Unicode", "a\u2028\u2029\u0085b"],
  ["the end of another protocol", "data: [DONE]\n\n: ping"],
  ["the end of a JSON text", '"}\n\n'],
];
const evil = named.map(([, text]) => text);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

describe("H08: text of a model", () => {
  it.each(named)("such as %s is one line of JSON in every frame, and nothing but text", async (_, text) => {
    const agent = scriptedAgent([{ thinking: text, text, calls: [{ name: "pick_colour", args: { hint: text }, id: "c1" }] }], {
      tools: [pickColour],
    });
    const { url } = await payloadScene({ agents: [agent] });
    const body = JSON.stringify({ sessionId: "a", context: {}, input: `Say ${text}` });
    const response = await fetch(`${url}/api/agent/execute`, { method: "POST", headers: json, body });
    const frames = await framesOf(response);
    expect(frames.filter(({ event }) => event === "execute_complete")).toHaveLength(1);
    expect(frames.at(-1)?.event).toBe("execute_complete");
    expect(frames.map(({ event }) => event)).not.toContain("evil");
    const written = frames
      .filter(({ event }) => event === "message_end")
      .map(({ data }) => data["message"] as { readonly content: unknown });
    expect(written[1]?.content).toMatchObject([
      { type: "thinking", text },
      { type: "text", text },
      { type: "tool_call", args: { hint: text } },
    ]);
    expect(JSON.stringify(frames.find(({ event }) => event === "awaiting_tool_execution")?.data)).toContain(
      JSON.stringify(text).slice(1, -1),
    );
    await framesOf(await fetch(`${url}/api/sessions/a/events`));
    const { messages } = (await (await fetch(`${url}/api/agent/session/a`)).json()) as { messages: unknown[] };
    expect(messages[0]).toEqual({ role: "user", content: `Say ${text}` });
  });

  it("reaches the readers of notifications as text as well", async () => {
    const { server, send } = await payloadScene({ dialects: [plainDialect] });
    const dialects: readonly (readonly [path: string, event: string, notified: (data: Frame["data"]) => unknown])[] = [
      ["/api/notifications", "notification", (data) => data["notification"]],
      ["/api/notifications?dialect=plain", "plain_job_progress", (data) => data],
    ];
    for (const [path, event, notified] of dialects) {
      const reader = ((await send(path)).body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
      for (const text of evil) server.notify("local", { type: "job_progress", data: { text } });
      let text = "";
      while (text.split(`event: ${event}\n`).length <= evil.length) text += (await reader.read()).value ?? "";
      const frames = framesIn(text);
      expect(frames.map((frame) => frame.event)).toEqual(evil.map(() => event));
      expect(frames.map(({ data }) => (notified(data) as Notification).data)).toEqual(evil.map((one) => ({ text: one })));
      await reader.cancel();
    }
  });

  it("that breaks a run ends in a problem document in the stream, as text without control characters", async () => {
    for (const text of evil) {
      const error = new AgentError("MODEL_BAD_REQUEST", { message: `The vendor said ${text}.` });
      const { send } = await payloadScene({ agents: [scriptedAgent([{ error }])] });
      const frames = await framesOf(await send("/api/agent/execute", { json: { context: {}, input: "Hi" } }));
      expect(frames.at(-1)).toMatchObject({ event: "execute_complete", data: { status: "error", error: { code: "MODEL_BAD_REQUEST" } } });
      const problems = frames.filter(({ event }) => event === "execute_complete").map(({ data }) => data["error"] as Problem);
      expect(problems.map(({ detail }) => detail).join("")).not.toMatch(controls);
    }
  });
});

describe("H08: text of a caller", () => {
  it("comes back as JSON that no browser takes for a page, and free of control characters where it is refused", async () => {
    const { ask, send, refused } = await payloadScene();
    for (const [place, text] of evil.entries()) {
      const { headers, body } = await ask("/api/sessions", { json: { id: `s${place}`, title: text, metadata: { [text]: text } } });
      expect(headers.get("Content-Type")).toMatch(/^application\/json/);
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(body).toMatchObject({ title: text, metadata: { [text]: text } });
      expect((await send(`/api/sessions?search=${encodeURIComponent(text)}`)).status).toBe(200);
      for (const sent of [
        { json: { agent: text.slice(0, 60) } },
        { json: { id: text } },
        { json: { context: { tools: [{ name: text, description: "", parameters: {} }] } } },
      ]) {
        const problem = await refused("/api/sessions", sent);
        expect(`${problem.detail}${problem.error}${problem.fix}`).not.toMatch(controls);
      }
      for (const body of [
        { input: "Hi", parent: text.slice(0, 60) },
        { input: "Hi", mode: text },
        { regenerate: text.slice(0, 60) },
        { input: "Hi", options: { activeModule: text } },
      ]) {
        const problem = await refused(`/api/sessions/s${place}/messages`, { json: body });
        expect(`${problem.detail}${problem.error}${problem.fix}`).not.toMatch(controls);
      }
    }
  });

  it("in headers and names makes no header of the answer", async () => {
    const { port } = await payloadScene();
    const upload = (name: string) => ({ "Content-Type": "text/html", "X-File-Name": name, "X-Request-Id": "a\u00ffb" });
    for (const name of ["a%0d%0aSet-Cookie:%20b=c.html", "%1b[2J", "%00", "a%7fb"])
      expect(await rawExchange({ port, bytes: requestText("POST /api/files", upload(name), "<b>") })).toMatch(/^HTTP\/1\.1 400 /);
    const kept = await rawExchange({ port, bytes: requestText("POST /api/files", upload('"><script>.html'), "<script>") });
    expect(kept).toMatch(/^HTTP\/1\.1 201 /);
    const blob = /upload-[0-9a-f]{64}/.exec(kept)?.[0];
    const file = await rawExchange({ port, bytes: requestText(`GET /api/files/${blob}`) });
    expect(file).toMatch(/^content-disposition: attachment$/im);
    expect(file).toMatch(/^content-security-policy: sandbox/im);
    expect(`${kept}${file}`).not.toMatch(/^set-cookie/im);
  });
});

describe("H08: the log of the process", () => {
  it("holds no control character, whatever fails with whatever name", async () => {
    const lines: string[] = [];
    const spy = vi.spyOn(console, "error").mockImplementation((line) => void lines.push(String(line)));
    try {
      for (const text of evil) {
        const authenticate = () => {
          const error = new TypeError(text);
          error.name = text;
          throw error;
        };
        const { refused } = await payloadScene({ authenticate, logger: consoleLogger() });
        const problem = await refused("/api/sessions");
        expect(problem).toMatchObject({ status: 500, code: "HOOK_FAILED" });
        expect(problem.detail).not.toMatch(controls);
      }
    } finally {
      spy.mockRestore();
    }
    expect(lines).toHaveLength(evil.length);
    for (const line of lines) {
      expect(JSON.parse(line)).toMatchObject({ level: "error" });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
    }
  });
});
