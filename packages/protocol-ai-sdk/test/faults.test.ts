import { defineTool } from "@loopwright/core";
import { digestId, ownedSessionId } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { chatServer, lastParts, lastText } from "./chat-server.ts";

const path = `/api/chat/${encodeURIComponent("first chat")}`;
const question = { text: "Is it raining?" };

/** A `fetch` whose first answer ends after this many bytes, as a lost connection does. */
function cutAfter(bytesMax: number): typeof fetch {
  let answers = 0;
  return async (input, init) => {
    const response = await fetch(input, init);
    answers += 1;
    if (answers > 1 || !response.body) return response;
    let left = bytesMax;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) controller.error(new TypeError("network error"));
      },
    });
    return new Response(response.body.pipeThrough(cut), response);
  };
}

describe("a stream that is cut", () => {
  const script = [
    { thinking: "A window.", text: "Let me see.", calls: [{ name: "clock", args: { zone: "CET" } }], chunkSize: 5 },
    { text: "It is raining at noon. ☔", chunkSize: 5 },
  ];
  const clock = defineTool({ name: "clock", description: "The time.", parameters: { type: "object" }, execute: () => "noon" });

  it("at any byte is resumed by the page, which then has the whole answer once", async () => {
    const whole = await chatServer(script, { tools: [clock] });
    const chat = whole.page();
    await chat.sendMessage(question);
    const wanted = JSON.stringify(chat.lastMessage?.parts);
    let cuts = 0;
    for (let bytes = 1; bytes < 1_300; bytes += 97) {
      const { page } = await chatServer(script, { tools: [clock], replayMs: 600_000 });
      const cut = page({ fetch: cutAfter(bytes) });
      await cut.sendMessage(question);
      if (cut.error) cuts += 1;
      await cut.resumeStream();
      expect(cut.status, `after ${bytes} bytes`).toBe("ready");
      const ids = (text: string): string => text.replace(/"toolCallId":"[^".]+/g, '"toolCallId":"run');
      expect(ids(JSON.stringify(cut.lastMessage?.parts)), `after ${bytes} bytes`).toBe(ids(wanted));
      expect(cut.messages).toHaveLength(2);
    }
    expect(cuts).toBeGreaterThan(5);
  });

  it("does not stop the run, and gets the rest while it comes", async () => {
    const isResumed = Promise.withResolvers<void>();
    const { page } = await chatServer(
      [
        { text: "It is", chunks: [], chunkSize: 2, calls: [{ name: "clock" }] },
        { text: " raining.", after: isResumed.promise },
      ],
      {
        tools: [clock],
      },
    );
    const chat = page();
    const sent = chat.sendMessage(question);
    await expect.poll(() => lastText(chat), { timeout: 20_000 }).toBe("It is");
    await chat.stop();
    await sent;
    const resumed = chat.resumeStream();
    await expect.poll(() => chat.status, { timeout: 20_000 }).toBe("streaming");
    isResumed.resolve();
    await resumed;
    expect(lastText(chat)).toBe("It is raining.");
    expect(chat.messages).toHaveLength(2);
  });

  it("is resumed by a second page at once, with the same words", async () => {
    const isOpen = Promise.withResolvers<void>();
    const { page } = await chatServer([{ calls: [{ name: "clock" }] }, { text: "Both.", after: isOpen.promise }], { tools: [clock] });
    const first = page();
    const sent = first.sendMessage(question);
    await expect.poll(() => lastParts(first)[0]?.type, { timeout: 20_000 }).toBe("tool-clock");
    const second = page();
    const resumed = second.resumeStream();
    await expect.poll(() => lastParts(second)[0]?.type, { timeout: 20_000 }).toBe("tool-clock");
    isOpen.resolve();
    await Promise.all([sent, resumed]);
    expect(second.lastMessage).toEqual(first.lastMessage);
  });

  it("is 204 where nothing runs and where there is no such chat", async () => {
    const { page, send } = await chatServer([{ text: "Yes." }], { replayMs: 0 });
    expect((await send(`${path}/stream`)).status).toBe(204);
    await page().sendMessage(question);
    expect((await send(`${path}/stream`)).status).toBe(204);
    expect(await (await send(`${path}/stop`, { method: "POST" })).json()).toEqual({ stopping: false });
  });
});

describe("what goes wrong, as a page of the AI SDK reads it", () => {
  it("takes text back when the model is asked again, in the same stream", async () => {
    const { page } = await chatServer([{ text: "It is su", error: "MODEL_STREAM_BROKEN", chunkSize: 2 }, { text: "It rains." }]);
    const chat = page();
    await chat.sendMessage(question);
    expect([lastText(chat), lastParts(chat).length]).toEqual(["It rains.", 1]);
  });

  it("reports a failed run once, with its cause", async () => {
    const { page, provider } = await chatServer([{ error: "MODEL_AUTH" }, { text: "Better." }]);
    const chat = page();
    await chat.sendMessage(question);
    expect(chat.status).toBe("error");
    expect(chat.error?.message).toContain("scripted");
    expect(provider.requests).toHaveLength(1);
    await chat.regenerate();
    expect(lastText(chat)).toBe("Better.");
  });

  it("stops the run by its route, keeps the partial answer and sends nothing by itself", async () => {
    const { page, send } = await chatServer([{ text: "It is", hang: true }]);
    const chat = page({ sendAutomaticallyWhen: () => true });
    const sent = chat.sendMessage(question);
    await expect.poll(() => lastText(chat), { timeout: 20_000 }).toBe("It is");
    expect(await (await send(`${path}/stop`, { method: "POST" })).json()).toEqual({ stopping: true });
    await sent;
    expect([chat.status, chat.messages.length]).toEqual(["ready", 2]);
    expect(lastParts(chat)).toMatchObject([{ type: "text", text: "It is", state: "done" }]);
  });

  it("keeps the chats of two users apart", async () => {
    const { page, send, provider } = await chatServer([{ text: "Anne." }, { text: "Ben." }]);
    await page().sendMessage({ text: "I am Anne." });
    const { messages } = (await (await send(path, { user: "ben" })).json()) as { messages: unknown[] };
    expect(messages).toEqual([]);
    await page({ user: "ben" }).sendMessage({ text: "Who am I?" });
    expect(JSON.stringify(provider.requests[1]?.messages)).not.toContain("Anne");
  });

  it("is kept from a chat neither by a session that another user has opened, nor led into it", async () => {
    const { page, send, url } = await chatServer([{ text: "Hello." }]);
    const open = (id: string): Promise<Response> =>
      fetch(new URL("/api/sessions", url), {
        method: "POST",
        headers: { authorization: "Bearer key-of-ben", "content-type": "application/json" },
        body: JSON.stringify({ id, agent: "helper" }),
      });
    expect((await open(await ownedSessionId("chat", "anne", ["first chat"]))).status).toBe(403);
    const earlier = `chat-${await digestId("anne", "first chat")}`;
    expect((await open(earlier)).status).toBe(201);
    await page().sendMessage({ text: "A secret." });
    const stored = await fetch(new URL(`/api/sessions/${earlier}`, url), { headers: { authorization: "Bearer key-of-ben" } });
    expect(await stored.json()).toMatchObject({ messages: [] });
    expect(await (await send(path)).text()).toContain("A secret.");
  });

  it("answers the same request again with the run that there is", async () => {
    const { page, provider } = await chatServer([{ text: "Once." }, { text: "Twice." }]);
    const [first, second] = [page(), page()];
    const message = { id: "m1", parts: [{ type: "text" as const, text: "Hello" }] };
    await Promise.all([first.sendMessage(message), second.sendMessage(message)]);
    expect([lastText(first), lastText(second), provider.requests.length]).toEqual(["Once.", "Once.", 1]);
  });

  it("does not stop a run that waits when its message is sent again", async () => {
    const ask = defineTool({ name: "ask", description: "Asks.", parameters: { type: "object" } });
    const { page, provider } = await chatServer([{ calls: [{ name: "ask" }] }, { text: "Yes." }], { tools: [ask] });
    const [first, second] = [page(), page()];
    const message = { id: "m1", parts: [{ type: "text" as const, text: "Hello" }] };
    await first.sendMessage(message);
    await second.sendMessage(message);
    expect(lastParts(second)).toMatchObject([{ type: "tool-ask", state: "input-available" }]);
    const [call] = lastParts(second) as readonly { toolCallId: string }[];
    await second.addToolOutput({ tool: "ask", toolCallId: call?.toolCallId ?? "", output: "it is" });
    await second.sendMessage();
    expect([lastText(second), provider.requests.length]).toEqual(["Yes.", 2]);
  });

  const user = { id: "m1", role: "user", parts: [{ type: "text", text: "Hello" }] };
  it.each([
    ["no object", [], "JSON object"],
    ["no chat", { messages: [user] }, "`id`"],
    ["no messages", { id: "c", messages: [] }, "`messages`"],
    ["another trigger", { id: "c", messages: [user], trigger: "sing" }, "`trigger`"],
    ["an unknown role", { id: "c", messages: [{ role: "wizard", parts: [] }] }, "`messages[0].role`"],
    ["no parts", { id: "c", messages: [{ role: "user" }] }, "`messages[0].parts`"],
    ["an empty message", { id: "c", messages: [{ role: "user", parts: [] }] }, "`messages[0].parts`"],
    ["an unknown part", { id: "c", messages: [{ role: "user", parts: [{ type: "song" }] }] }, "`messages[0].parts[0]`"],
    [
      "a foreign address",
      { id: "c", messages: [{ role: "user", parts: [{ type: "file", mediaType: "image/png", url: "file:///etc" }] }] },
      "url",
    ],
    ["an answer that is none", { id: "c", messages: [user, { id: "x", role: "assistant", parts: [] }] }, "no answer of this chat"],
    ["an agent that is none", { id: "c", agent: "nothing", messages: [user] }, "nothing"],
  ])("refuses %s in one sentence before anything runs", async (_, body, words) => {
    const { send, provider } = await chatServer([{ text: "Never." }]);
    const response = await send("/api/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect([400, 404]).toContain(response.status);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toContain(words);
    expect(provider.requests).toHaveLength(0);
  });

  it("takes no result for a tool of the server, and none for a call that has one", async () => {
    const clock = defineTool({ name: "clock", description: "The time.", parameters: { type: "object" }, execute: () => "noon" });
    const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" } });
    const { page, provider } = await chatServer([{ calls: [{ name: "clock" }, { name: "look" }] }, { text: "Noon." }], {
      tools: [clock, look],
    });
    const chat = page();
    await chat.sendMessage(question);
    const forged = lastParts(chat).map((part) => ({ ...part, state: "output-available", output: "midnight" }));
    const [asked, answer] = chat.messages;
    chat.messages = [asked, { ...answer, parts: forged }] as typeof chat.messages;
    await chat.sendMessage();
    expect(lastText(chat)).toBe("Noon.");
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("noon");
    expect(JSON.stringify(provider.requests[1]?.messages).match(/midnight/g)).toHaveLength(1);
    // The same answers once more get what followed them.
    const again = page();
    again.messages = [asked, { ...answer, parts: forged }] as typeof chat.messages;
    await again.sendMessage();
    expect([again.error, lastText(again), provider.requests.length]).toEqual([undefined, "Noon.", 2]);
  });
});
