import { defineTool } from "@loopwright/core";
import type OpenAI from "openai";
import type { ResponseInput, ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, it } from "vitest";
import { openaiServer } from "./openai-server.ts";

const model = "helper";
const input = "Is it raining?";
const once = { maxRetries: 0 } as const;
const weather = {
  type: "function",
  name: "look_outside",
  description: "Looks out of the window.",
  parameters: { type: "object", properties: { side: { type: "string" } } },
  strict: false,
} as const;
const outside = { calls: [{ name: "look_outside", args: { side: "north" } }] };

/** The events of a streamed response. */
async function eventsOf(stream: AsyncIterable<ResponseStreamEvent>): Promise<readonly ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const textOf = (events: readonly ResponseStreamEvent[]): string =>
  events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");

/** The call of a response, with the output that answers it. */
function answerTo(response: OpenAI.Responses.Response, output: string): OpenAI.Responses.ResponseInputItem.FunctionCallOutput {
  const call = response.output.find((item) => item.type === "function_call");
  if (!call) throw new Error("There is no call.");
  expect(JSON.parse(call.arguments)).toEqual({ side: "north" });
  return { type: "function_call_output", call_id: call.call_id, output };
}

describe("the responses of OpenAI's SDK, pointed at a server", () => {
  it("has an answer in one piece with its usage, and reads it again", async () => {
    const { client } = await openaiServer([{ text: "It is.", usage: { input: 10, cacheRead: 4, output: 3, reasoning: 1 } }]);
    const response = await client.responses.create({ model, input });
    expect(response).toMatchObject({
      ...{ object: "response", status: "completed", model, output_text: "It is.", error: null },
      usage: { input_tokens: 14, output_tokens: 3, total_tokens: 17, input_tokens_details: { cached_tokens: 4 } },
    });
    const again = await client.responses.retrieve(response.id);
    expect([again.output_text, again.output, again.usage]).toEqual(["It is.", response.output, response.usage]);
  });

  it("has the same answer as a stream, in the order of the API, which the SDK's own helper puts together", async () => {
    const script = [{ thinking: "Clouds.", text: "It is raining. ☔", chunkSize: 3 }];
    const first = await openaiServer(script);
    const events = await eventsOf(await first.client.responses.create({ model, input, stream: true }));
    expect(textOf(events)).toBe("It is raining. ☔");
    const order = events.map(({ type }) => type.replace("response.", "")).filter((type, at, all) => type !== all[at - 1]);
    const message = [
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
    ];
    const reasoning = message.map((type) => type.replace("output_text", "reasoning_text"));
    expect(order).toEqual(["created", "in_progress", ...reasoning, ...message, "completed"]);
    const numbers = events.map(({ sequence_number }) => sequence_number);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    const second = await openaiServer(script);
    const response = await second.client.responses.stream({ model, input }).finalResponse();
    expect(response.output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
    expect(response.output_text).toBe("It is raining. ☔");
    const replayed = second.client.responses.stream({ response_id: response.id });
    expect(await replayed.finalResponse()).toMatchObject({ id: response.id, output_text: "It is raining. ☔" });
  });

  it("has the messages of all turns, the tools of the server run unseen", async () => {
    const clock = defineTool({ name: "clock", description: "The time.", parameters: { type: "object" }, execute: () => "noon" });
    const { client } = await openaiServer([{ text: "Let me see.", calls: [{ name: "clock", args: {} }] }, { text: "Noon." }], {
      tools: [clock],
    });
    const response = await client.responses.stream({ model, input }).finalResponse();
    expect(response.output.map((item) => item.type === "message" && item.content[0])).toEqual([
      expect.objectContaining({ text: "Let me see." }),
      expect.objectContaining({ text: "Noon." }),
    ]);
  });

  it("continues a response by its id, from the log, also for callers that may send no history", async () => {
    const { clientOf, provider } = await openaiServer([{ text: "Hello." }, { text: "You are Ben." }, { text: "You are Carl." }]);
    const ben = clientOf({ apiKey: "key of ben" });
    const hello = await ben.responses.create({ model, input: "I am Ben." });
    const named = await ben.responses.create({ model, input: "Who am I?", previous_response_id: hello.id });
    expect([named.output_text, named.previous_response_id]).toEqual(["You are Ben.", hello.id]);
    // Another continuation of the first response does not know the second one.
    await ben.responses.create({ model, input: "I am Carl. Who am I?", previous_response_id: hello.id });
    const texts = provider.requests.map(({ messages }) => messages.map((message) => JSON.stringify(message)).join());
    expect(texts[1]).toMatch(/I am Ben.*Hello.*Who am I/);
    expect(texts[2]).toMatch(/I am Ben.*Hello.*I am Carl/);
    expect(texts[2]).not.toContain("You are Ben.");
  });

  it("asks its caller's tools, and the output continues the same run, with the id of the response and without", async () => {
    const { client, provider } = await openaiServer([outside, { text: "It pours." }, outside, { text: "It snows." }]);
    const asked = await client.responses.create({ model, input, tools: [weather] });
    const answer = answerTo(asked, "rain");
    const stream = await client.responses.create({
      model,
      input: [answer],
      previous_response_id: asked.id,
      tools: [weather],
      stream: true,
    });
    // What has been answered since is not in the response that asked, while its run is open and at its end.
    const events: ResponseStreamEvent[] = [];
    for await (const event of stream) {
      if (events.length === 0)
        expect(await client.responses.retrieve(asked.id)).toMatchObject({ status: "completed", output: asked.output });
      events.push(event);
    }
    expect(textOf(events)).toBe("It pours.");
    expect((await client.responses.retrieve(asked.id)).output).toEqual(asked.output);
    const again = await client.responses.create({ model, input: [answer], previous_response_id: asked.id });
    expect([again.output_text, provider.requests.length]).toEqual(["It pours.", 2]);
    const streamed = await client.responses.stream({ model, input, tools: [weather] }).finalResponse();
    const whole: ResponseInput = [{ role: "user", content: input }, ...(streamed.output as ResponseInput), answerTo(streamed, "snow")];
    expect((await client.responses.create({ model, input: whole, tools: [weather] })).output_text).toBe("It snows.");
  });

  it("brings a whole conversation, of a trusted caller, with its instructions", async () => {
    const { client, provider } = await openaiServer([{ text: "Anne." }]);
    const conversation: ResponseInput = [
      { role: "developer", content: "Be brief." },
      { role: "user", content: [{ type: "input_text", text: "I am Anne." }] },
      { type: "function_call", call_id: "c1", name: "clock", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "noon" },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "Who am I?" },
    ];
    await client.responses.create({ model, instructions: "Be kind.", input: conversation });
    const [request] = provider.requests;
    expect(request?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result", "assistant", "user"]);
    expect(JSON.stringify(request)).toContain("Be kind.\\n\\nBe brief.");
  });

  it("begins in the background, is read while it runs, and is cancelled", async () => {
    const { client } = await openaiServer([{ text: "One two.", hang: true }]);
    const begun = await client.responses.create({ model, input, background: true });
    expect(begun.status).toBe("in_progress");
    expect((await client.responses.retrieve(begun.id)).status).toBe("in_progress");
    expect((await client.responses.cancel(begun.id)).status).toBe("cancelled");
    expect((await client.responses.retrieve(begun.id)).status).toBe("cancelled");
  });

  it("continues a stream that was left, after the number that the client has: each letter comes once", async () => {
    const text = "It is raining, and it will rain. ☔";
    const { client } = await openaiServer([{ thinking: "Clouds.", text, chunkSize: 5 }]);
    const stream = await client.responses.create({ model, input, stream: true, background: true });
    const had: ResponseStreamEvent[] = [];
    for await (const event of stream) {
      had.push(event);
      if (textOf(had).length > 8) break;
    }
    const created = had[0];
    if (created?.type !== "response.created") throw new Error("There is no response.");
    const after = had.at(-1)?.sequence_number ?? 0;
    const rest = await eventsOf(await client.responses.retrieve(created.response.id, { stream: true, starting_after: after }));
    expect(textOf([...had, ...rest])).toBe(text);
    expect(rest.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed" } });
  });

  it("closes a text that was taken back as incomplete, and the response has the text that counts alone", async () => {
    const { client } = await openaiServer([{ text: "It is su", error: "MODEL_STREAM_BROKEN" }, { text: "It rains." }]);
    const stream = client.responses.stream({ model, input });
    const closed: unknown[] = [];
    stream.on("response.output_item.done", ({ item }) => closed.push("status" in item && item.status));
    expect((await stream.finalResponse()).output_text).toBe("It rains.");
    expect(closed).toEqual(["incomplete", "completed"]);
  });

  it("joins the run of a request whose answer was lost, and gets the same response", async () => {
    const { clientOf, provider } = await openaiServer([{ text: "Once." }, { text: "Twice." }]);
    let sent = 0;
    const client = clientOf({
      async fetch(url, init) {
        const response = await fetch(url, init);
        sent += 1;
        if (sent > 1) return response;
        await response.text();
        throw new TypeError("The connection was lost.");
      },
    });
    const response = await client.responses.create({ model, input });
    expect([response.output_text, sent, provider.requests.length]).toEqual(["Once.", 2, 1]);
  });

  it("has an answer in the form that was asked for, and fails once where the model gives another one", async () => {
    const { client, provider } = await openaiServer([{ text: '{"wet":true}' }, { text: "No." }, { text: "No." }, { text: "Never." }]);
    const schema = { type: "object", properties: { wet: { type: "boolean" } }, required: ["wet"], additionalProperties: false };
    const text = { format: { type: "json_schema", name: "weather", strict: true, schema } } as const;
    expect((await client.responses.parse({ model, input, text })).output_parsed).toEqual({ wet: true });
    expect(provider.requests[0]?.output).toEqual({ name: "weather", schema });
    await expect(client.responses.create({ model, input, text })).rejects.toMatchObject({ code: "OUTPUT_INVALID" });
    expect(provider.requests).toHaveLength(3);
  });

  it("states that a run waits for the approval of a person", async () => {
    const erase = defineTool({
      ...{ name: "delete_all", description: "Deletes everything.", parameters: { type: "object" }, approval: true },
      execute: () => "gone",
    });
    const { client } = await openaiServer([{ calls: [{ name: "delete_all", args: {} }] }], { tools: [erase] });
    expect((await client.responses.create({ model, input })).output_text).toContain("the approval of `delete_all`");
  });
});

describe("what goes wrong, as the responses of OpenAI's SDK show it", () => {
  it.each([
    ["a model", { model: "nothing", input }, { status: 404, code: "model_not_found", param: "model" }],
    ["no input", { model, input: [] }, { status: 400, param: "input" }],
    ["an item", { model, input: [{ type: "item_reference", id: "x" }] }, { status: 400, param: "input[0]" }],
    ["a part", { model, input: [{ role: "user", content: [{ type: "input_audio" }] }] }, { status: 400, param: "input[0].content[0]" }],
    ["a tool of OpenAI", { model, input, tools: [{ type: "web_search" }] }, { status: 400, param: "tools[0]" }],
    ["a forced call", { model, input, tool_choice: "required", tools: [weather] }, { status: 400, param: "tool_choice" }],
    ["a form", { model, input, text: { format: { type: "grammar" } } }, { status: 400, param: "text.format" }],
    [
      "a schema",
      { model, input, text: { format: { type: "json_schema", name: "x", schema: { type: "array" } } } },
      { status: 400, param: "text.format.schema" },
    ],
    ["a conversation", { model, input, conversation: "c1" }, { status: 400, param: "conversation" }],
    ["an id of another server", { model, input, previous_response_id: "resp_1" }, { status: 400, param: "previous_response_id" }],
    ["an unknown id", { model, input, previous_response_id: "resp_nothing.r1.1" }, { status: 400, param: "previous_response_id" }],
    [
      "a call of another server",
      { model, input: [{ type: "function_call_output", call_id: "c1", output: "x" }] },
      { status: 400, param: "input" },
    ],
  ])("names %s that cannot be used", async (_, body, refusal) => {
    const { client, provider } = await openaiServer([{ text: "Never." }]);
    await expect(client.responses.create(body as OpenAI.Responses.ResponseCreateParamsNonStreaming, once)).rejects.toMatchObject(refusal);
    expect(provider.requests).toHaveLength(0);
  });

  it("refuses a message where the output of a call is owed, and a response of another user", async () => {
    const { client, clientOf } = await openaiServer([outside]);
    const { id } = await client.responses.create({ model, input, tools: [weather] });
    await expect(client.responses.create({ model, input, previous_response_id: id }, once)).rejects.toMatchObject({
      status: 400,
      param: "input",
    });
    await expect(client.responses.retrieve("resp_nothing.r1.1", {}, once)).rejects.toMatchObject({ status: 404 });
    await expect(clientOf({ apiKey: "key of eve" }).responses.retrieve(id, {}, once)).rejects.toMatchObject({ status: 404 });
  });

  it("reports a failed run once, in one piece and in a stream, and the SDK does not run it again", async () => {
    const { client, provider } = await openaiServer([{ error: "MODEL_AUTH" }, { error: "MODEL_AUTH" }]);
    await expect(client.responses.create({ model, input })).rejects.toMatchObject({ code: "MODEL_AUTH" });
    expect(provider.requests).toHaveLength(1);
    const events = await eventsOf(await client.responses.create({ model, input, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed", error: { code: "MODEL_AUTH" } } });
    expect(provider.requests).toHaveLength(2);
  });

  it("ends as incomplete where the answer is cut at its limit of tokens", async () => {
    const { client } = await openaiServer([{ text: "It is r", stopReason: "length" }]);
    const response = await client.responses.create({ model, input, max_output_tokens: 3 });
    expect([response.status, response.incomplete_details?.reason, response.output_text]).toEqual([
      "incomplete",
      "max_output_tokens",
      "It is r",
    ]);
  });
});
