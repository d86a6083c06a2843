import { describe, expect, it } from "vitest";
import { type ChatProxyOptions, chatProxy } from "../src/index.ts";
import { legacyServer } from "./legacy-server.ts";
import { remoteServer } from "./remote-server.ts";

type Frame = { readonly event: string; readonly data: Record<string, unknown> };

const url = "http://page.example/chat";

/** What a page does with a proxy. */
function pageOf(card: string, options: Omit<ChatProxyOptions, "card"> = {}) {
  const handle = chatProxy({ card, ...options });
  return {
    handle,
    say: (body: object, headers: Record<string, string> = { "content-type": "application/json" }) =>
      handle(new Request(url, { method: "POST", headers, body: JSON.stringify(body) })),
    task: (id: string, method = "GET") => handle(new Request(`${url}?task=${encodeURIComponent(id)}`, { method })),
  };
}

async function* framesOf(response: Response): AsyncGenerator<Frame, void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    const all = (rest + decoder.decode(piece as Uint8Array, { stream: true })).split("\n\n");
    rest = all.pop() ?? "";
    for (const frame of all) {
      const [, event = "", data = "{}"] = /^event: (.+)\ndata: (.+)$/.exec(frame) ?? [];
      if (event !== "") yield { event, data: JSON.parse(data) as Record<string, unknown> };
    }
  }
}

async function allOf(response: Response): Promise<readonly Frame[]> {
  if (response.status !== 200) throw new Error(await response.text());
  const all: Frame[] = [];
  for await (const frame of framesOf(response)) all.push(frame);
  return all;
}

/** The text as a page shows it. */
const textOf = (frames: readonly Frame[]): string =>
  frames.reduce((text, { event, data }) => {
    if (event !== "status" || typeof data["text"] !== "string") return text;
    return data["replace"] === true ? data["text"] : text + data["text"];
  }, "");

describe.each([
  ["1.0", remoteServer],
  ["0.3", legacyServer],
])("a chat proxy before an agent of A2A %s", (_, server) => {
  it("C65: streams `status` with text that grows, `progress` of tools, and one `result` at the end, whose text is that of the `status` together", async () => {
    const { card } = await server(({ report, write, end }) => {
      write("Let me look. ");
      report({ type: "tool", toolName: "sky" });
      write("It is ", { append: true });
      write("raining.", { append: true });
      end("COMPLETED");
    });
    const response = await pageOf(card).say({ text: "The weather?" });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const frames = await allOf(response);
    const kinds = frames.map(({ event }) => event);
    expect(kinds.filter((kind, at) => kind !== kinds[at - 1])).toEqual(["status", "progress", "status", "result"]);
    expect(frames.find(({ event }) => event === "progress")?.data).toMatchObject({ data: [{ type: "tool", toolName: "sky" }] });
    expect(frames.at(-1)?.data).toMatchObject({ state: "completed", text: "Let me look. It is raining." });
    expect(textOf(frames)).toBe("Let me look. It is raining.");
    expect(frames.filter(({ data }) => typeof data["text"] === "string" && data["state"] === "working").length).toBeGreaterThan(1);
  });

  it("C65: takes text back where the agent does", async () => {
    const { card } = await server(({ write, end }) => {
      write("It is sunny.");
      write("It is raining.", { append: false });
      end("COMPLETED");
    });
    const frames = await allOf(await pageOf(card).say({ text: "The weather?" }));
    expect(frames.some(({ data }) => data["replace"] === true)).toBe(true);
    expect([textOf(frames), frames.at(-1)?.data["text"]]).toEqual(["It is raining.", "It is raining."]);
  });

  it("ends with the question of a task, and continues the task with its answer", async () => {
    const { card, received } = await server(({ isAnswer, text, write, end }) => {
      if (!isAnswer) return end("INPUT_REQUIRED", "Where?");
      write(`Rain in ${text}.`);
      end("COMPLETED");
    });
    const page = pageOf(card);
    const asked = (await allOf(await page.say({ text: "The weather?" }))).at(-1);
    expect(asked).toMatchObject({ event: "result", data: { state: "input-required", note: "Where?" } });
    const { taskId, contextId } = asked?.data ?? {};
    const frames = await allOf(await page.say({ text: "Lisbon", taskId, contextId }));
    expect(frames.at(-1)).toMatchObject({ event: "result", data: { taskId, state: "completed", text: "Rain in Lisbon." } });
    expect(received).toEqual(["The weather?", "Lisbon"]);
  });

  it("gives a page that left and came back the whole task, and cancels it on request", async () => {
    const { card, canceled } = await server(({ write }) => write("It is "));
    const page = pageOf(card);
    const first = await page.say({ text: "The weather?" });
    let taskId = "";
    for await (const { data } of framesOf(first)) {
      taskId = String(data["taskId"]);
      if (data["text"] === "It is ") break;
    }
    expect(canceled).toEqual([]);
    const again = framesOf(await page.task(taskId));
    const frames: Frame[] = [];
    for await (const frame of again) {
      frames.push(frame);
      if (textOf(frames) === "It is " && canceled.length === 0) expect((await page.task(taskId, "DELETE")).status).toBe(204);
    }
    expect(canceled).toEqual([taskId]);
    expect(frames.at(-1)).toMatchObject({ event: "result", data: { state: "canceled" } });
    // A task that has ended is given at once.
    expect((await allOf(await page.task(taskId))).at(-1)).toMatchObject({ event: "result", data: { taskId, state: "canceled" } });
  });

  it("reports a task that fails by its cause, and a stream that breaks by an `error` with the task", async () => {
    const failing = await server(({ end }) => end("FAILED", "No sky."));
    expect((await allOf(await pageOf(failing.card).say({ text: "The weather?" }))).at(-1)).toMatchObject({
      event: "result",
      data: { state: "failed", note: "No sky." },
    });
    const { card } = await server(({ write }) => write("It is "));
    const breaking = async (input: string, init: RequestInit): Promise<Response> => {
      const response = await fetch(input, init);
      return response.headers.get("content-type") === "text/event-stream" ? brokenAfter("It is ", response) : response;
    };
    const last = (await allOf(await pageOf(card, { fetch: breaking }).say({ text: "The weather?" }))).at(-1);
    expect(last).toEqual({ event: "error", data: { error: "The connection to the agent broke.", taskId: expect.stringMatching(/.+/) } });
  });
});

/** The response, which breaks once it has had this text. */
function brokenAfter(words: string, response: Response): Response {
  const reader = response.body?.getReader();
  let text = "";
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (text.includes(words)) {
        await reader?.cancel();
        return controller.error(new TypeError("The connection was reset."));
      }
      const { value } = (await reader?.read()) ?? {};
      if (!value) return controller.close();
      text += new TextDecoder().decode(value);
      controller.enqueue(value);
    },
  });
  return new Response(body, response);
}

describe("what a page must not do", () => {
  const never = async (): Promise<Response> => {
    throw new Error("Nothing is asked.");
  };
  const page = pageOf("http://127.0.0.1:1/card.json", { fetch: never });

  it.each([
    ["a body that is a form", () => page.say({ text: "Hi" }, { "content-type": "text/plain" }), 415],
    ["no text", () => page.say({}), 400],
    ["text that is none", () => page.say({ text: 7 }), 400],
    ["an id that is too long", () => page.say({ text: "Hi", taskId: "x".repeat(513) }), 400],
    ["an id that is no text", () => page.say({ text: "Hi", contextId: {} }), 400],
    ["too large a body", () => page.say({ text: "x".repeat(300_000) }), 413],
    ["a list", () => page.say([]), 400],
    ["no task", () => page.handle(new Request(url)), 400],
    ["another method", () => page.handle(new Request(`${url}?task=t`, { method: "PUT" })), 405],
  ])("%s is refused before the agent is asked", async (_, send, status) => {
    const response = await send();
    expect([response.status, await response.json()]).toEqual([status, { error: expect.any(String) }]);
  });

  it("an agent that cannot be reached is a status, and its headers are those of the options alone", async () => {
    const down = pageOf("http://127.0.0.1:1/card.json");
    const response = await down.say({ text: "Hi" });
    expect([response.status, await response.json()]).toEqual([502, { error: "The remote agent at http://127.0.0.1:1 cannot be reached." }]);
    const seen: Headers[] = [];
    const watched = async (_: string, init: RequestInit): Promise<Response> => {
      seen.push(new Headers(init.headers));
      return new Response("", { status: 404 });
    };
    const handle = chatProxy({
      card: "http://127.0.0.1:1/card.json",
      fetch: watched,
      headers: (request) => ({ authorization: `Bearer of ${request.headers.get("x-user")}` }),
    });
    const headers = { "content-type": "application/json", cookie: "secret", "x-user": "anne" };
    expect((await handle(new Request(url, { method: "POST", headers, body: JSON.stringify({ text: "Hi" }) }))).status).toBe(502);
    expect(seen.map((one) => [one.get("authorization"), one.get("cookie")])).toEqual([["Bearer of anne", null]]);
  });
});
