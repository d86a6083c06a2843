import type { StreamResponse, Task } from "@a2a-js/sdk";
import { createClient } from "@loopwright/client";
import { defineTool } from "@loopwright/core";
import { digestId, ownedSessionId } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { listTasks } from "../src/list-tasks.ts";
import { asTask, Kept, keep, legacyMessage, message, questionOf, stateOf, taskServer, textOf } from "./task-server.ts";

const clock = defineTool({ name: "clock", description: "The time.", parameters: { type: "object" }, execute: () => "noon" });
const bomb = defineTool({
  ...{ name: "delete_all", description: "Deletes everything.", parameters: { type: "object" } },
  approval: "It cannot be undone.",
  execute: () => "gone",
});
const look = defineTool({ name: "look_outside", description: "Looks out of the window.", parameters: { type: "object" } });
const params = { tenant: "" } as const;

describe("the client of A2A 1.x, pointed at a server", () => {
  it("C73: discovers the agent by its card, and sends a message that is waited for", async () => {
    const { client, url } = await taskServer([{ text: "It is raining.", usage: { input: 3, output: 4 } }]);
    const anne = await client();
    expect(await anne.getAgentCard()).toMatchObject({
      ...{ name: "helper", capabilities: { streaming: true, pushNotifications: false } },
      ...{ supportedInterfaces: [{ url: `${url}/a2a/helper`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] },
      skills: [{ id: "helper", tags: ["helper"] }],
    });
    const task = await asTask(anne.sendMessage(message("Is it raining?")));
    expect([stateOf(task), textOf(task), task.metadata]).toMatchObject([
      "TASK_STATE_COMPLETED",
      "It is raining.",
      { usage: { input: 3, output: 4 } },
    ]);
    expect(task.history.map(({ parts }) => parts[0]?.content?.value)).toEqual(["Is it raining?"]);
    expect(await anne.getTask({ ...params, id: task.id })).toEqual(task);
  });

  it("C73: streams the task, its text and its end", async () => {
    const { client } = await taskServer([{ text: "It is raining. ☔", chunkSize: 3 }]);
    const anne = await client();
    const kept = await keep(anne.sendMessageStream(message("Is it raining?")));
    expect(kept.states).toEqual(["SUBMITTED", "WORKING", "COMPLETED"]);
    expect(kept.events[0]?.payload?.$case).toBe("task");
    expect(kept.text).toBe("It is raining. ☔");
    expect(textOf(await anne.getTask({ ...params, id: kept.task?.id ?? "" }))).toBe("It is raining. ☔");
  });

  it("continues the conversation of a context", async () => {
    const { client, provider } = await taskServer([{ text: "Hello." }, { text: "Anne." }]);
    const anne = await client();
    const first = await asTask(anne.sendMessage(message("I am Anne.")));
    const second = await asTask(anne.sendMessage(message("Who am I?", { contextId: first.contextId })));
    expect([second.contextId, textOf(second)]).toEqual([first.contextId, "Anne."]);
    expect(second.id).not.toBe(first.id);
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("I am Anne.");
  });

  it("shows the tools that run, and the text of the last turn as the answer", async () => {
    const { client } = await taskServer([{ text: "Let me see.", calls: [{ name: "clock", args: { zone: "CET" } }] }, { text: "Noon." }], {
      tools: [clock],
    });
    const kept = await keep((await client()).sendMessageStream(message("What time is it?")));
    const shown = kept.events.flatMap(({ payload }) =>
      payload?.$case === "statusUpdate" ? (payload.value.status?.message?.parts ?? []) : [],
    );
    expect(shown.map(({ content }) => content?.value)).toMatchObject([
      { type: "tool", state: "working", toolName: "clock", args: { zone: "CET" } },
      { type: "tool", state: "ok", toolName: "clock", output: [{ type: "text", text: "noon" }] },
    ]);
    expect(kept.text).toBe("Noon.");
  });

  it.each([
    ["data", { decision: "allow", note: "I have read it." }, "gone"],
    ["data", { decision: "deny" }, "TOOL_DENIED"],
    ["text", "allow", "gone"],
    ["text", "Deny", "TOOL_DENIED"],
  ] as const)("asks before a call that needs approval, and continues by %s: %j", async (kind, decision, result) => {
    const { client, provider } = await taskServer([{ calls: [{ name: "delete_all" }] }, { text: "Well." }], { tools: [bomb] });
    const anne = await client();
    const asked = await asTask(anne.sendMessage(message("Delete all.")));
    expect(stateOf(asked)).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(asked.status?.message?.parts[0]?.content?.value).toContain("It cannot be undone.");
    const [approval] = questionOf(asked).approvals;
    const ids = { taskId: asked.id, contextId: asked.contextId, messageId: "answer" };
    const answer =
      kind === "text"
        ? message(decision as string, ids)
        : message("", { ...ids, data: { decisions: [{ ...approval, ...(decision as object) }] } });
    const kept = await keep(anne.sendMessageStream(answer));
    expect([kept.task?.id, kept.states.at(-1), kept.text]).toEqual([asked.id, "COMPLETED", "Well."]);
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain(result);
  });

  it("leaves a client tool to the client, whose answer counts once", async () => {
    const { client, provider } = await taskServer([{ calls: [{ name: "look_outside" }] }, { text: "It pours." }], { tools: [look] });
    const anne = await client();
    const asked = await asTask(anne.sendMessage(message("Is it raining?")));
    expect(questionOf(asked).calls).toMatchObject([{ toolName: "look_outside" }]);
    for (const answer of ["rain", "rain"]) {
      const task = await asTask(anne.sendMessage(message(answer, { taskId: asked.id })));
      expect([task.id, stateOf(task), textOf(task)]).toEqual([asked.id, "TASK_STATE_COMPLETED", "It pours."]);
    }
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("rain");
    expect(provider.requests).toHaveLength(2);
  });

  it.each([
    ["an approval", "an approval", [{ calls: [{ name: "delete_all" }] }, { calls: [{ name: "delete_all" }] }], bomb],
    ["a client tool", "a client tool", [{ calls: [{ name: "look_outside" }] }, { calls: [{ name: "look_outside" }] }], look],
    ["an approval", "the approved client tool", [{ calls: [{ name: "look_outside" }] }], { ...look, approval: "It is cold." }],
    ["a client tool", "an approval", [{ calls: [{ name: "look_outside" }] }, { calls: [{ name: "delete_all" }] }], [look, bomb]],
  ])("answers %s by a text once: the same message again is no answer to %s", async (_, __, script, tools) => {
    const { client, provider } = await taskServer([...script, { text: "Well." }], { tools: [tools].flat() });
    const anne = await client();
    const asked = await asTask(anne.sendMessage(message("Go on.")));
    const answer = (messageId: string) => asTask(anne.sendMessage(message("allow", { taskId: asked.id, messageId })));
    const next = await answer("m1");
    const requests = provider.requests.length;
    expect(questionOf(next)).not.toEqual(questionOf(asked));
    const again = await answer("m1");
    expect([again.id, stateOf(again), questionOf(again)]).toEqual([asked.id, "TASK_STATE_INPUT_REQUIRED", questionOf(next)]);
    expect(provider.requests).toHaveLength(requests);
    // The same text in another message is another answer, and the first message still gets its task at the end.
    expect([await answer("m2"), await answer("m1")].map((task) => [task.id, textOf(task)])).toEqual([
      [asked.id, "Well."],
      [asked.id, "Well."],
    ]);
  });

  it("refuses a decision about other arguments than those of the call", async () => {
    const { client } = await taskServer([{ calls: [{ name: "delete_all" }] }], { tools: [bomb] });
    const anne = await client();
    const { id, ...asked } = await asTask(anne.sendMessage(message("Delete all.")));
    const [approval] = questionOf({ id, ...asked }).approvals;
    const data = { decisions: [{ ...approval, argsDigest: "0".repeat(64), decision: "allow" }] };
    await expect(anne.sendMessage(message("", { taskId: id, data }))).rejects.toThrow("other arguments");
    expect(stateOf(await anne.getTask({ ...params, id }))).toBe("TASK_STATE_INPUT_REQUIRED");
  });

  it("C73: cancels a task, also one that is canceled, and none that has ended", async () => {
    const { client } = await taskServer([{ text: "It is", hang: true }, { text: "Done." }]);
    const anne = await client();
    const kept = new Kept();
    const reading = keep(anne.sendMessageStream(message("Is it raining?")), kept);
    await expect.poll(() => kept.text, { timeout: 20_000 }).toBe("It is");
    const id = kept.task?.id ?? "";
    for (const _ of ["first", "again"]) expect(stateOf(await anne.cancelTask({ ...params, id, metadata: {} }))).toBe("TASK_STATE_CANCELED");
    expect((await reading).states.at(-1)).toBe("CANCELED");
    const done = await asTask(anne.sendMessage(message("Again.")));
    await expect(anne.cancelTask({ ...params, id: done.id, metadata: {} })).rejects.toMatchObject({ name: "TaskNotCancelableError" });
  });

  it("cancels a task that waits for an answer", async () => {
    const { client } = await taskServer([{ calls: [{ name: "delete_all" }] }], { tools: [bomb] });
    const anne = await client();
    const { id } = await asTask(anne.sendMessage(message("Delete all.")));
    expect(stateOf(await anne.cancelTask({ ...params, id, metadata: {} }))).toBe("TASK_STATE_CANCELED");
  });

  it("lists the tasks of a context and of all, the newest first, in pages", async () => {
    const { client } = await taskServer([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    const anne = await client();
    const first = await asTask(anne.sendMessage(message("1")));
    const second = await asTask(anne.sendMessage(message("2", { contextId: first.contextId })));
    const third = await asTask(anne.sendMessage(message("3")));
    const query = { ...params, contextId: "", status: 0, pageToken: "", statusTimestampAfter: undefined };
    const own = await anne.listTasks({ ...query, contextId: first.contextId, includeArtifacts: true });
    expect(own.tasks.map((task) => [task.id, textOf(task)])).toEqual([
      [second.id, "Two."],
      [first.id, "One."],
    ]);
    const ids: string[] = [];
    for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
      const { tasks, nextPageToken, pageSize } = await anne.listTasks({ ...query, pageToken, pageSize: 2 });
      expect(pageSize).toBe(2);
      ids.push(...tasks.map(({ id }) => id));
      pageToken = nextPageToken === "" ? undefined : nextPageToken;
    }
    expect(ids).toEqual([third.id, second.id, first.id]);
    const ben = await client({ user: "ben" });
    expect((await ben.listTasks(query)).tasks).toEqual([]);
    await expect(ben.getTask({ ...params, id: first.id })).rejects.toMatchObject({ name: "TaskNotFoundError" });
  });

  it("is kept from a context neither by a session that another user has opened, nor led into it", async () => {
    const { client, url, provider } = await taskServer([{ text: "Hello." }]);
    const open = (id: string): Promise<Response> =>
      fetch(new URL("/api/sessions", url), {
        method: "POST",
        headers: { authorization: "Bearer key-of-carl", "content-type": "application/json" },
        body: JSON.stringify({ id, agent: "helper" }),
      });
    const earlier = `context-${await digestId("anne", "helper", "default")}`;
    expect((await open(await ownedSessionId("context", "anne", ["helper", "default"]))).status).toBe(403);
    expect((await open(earlier)).status).toBe(201);
    const task = await asTask((await client()).sendMessage(message("A secret.", { contextId: "default" })));
    expect([textOf(task), task.id.startsWith(earlier), provider.requests.length]).toEqual(["Hello.", false, 1]);
  });

  it("continues the session that an earlier version has opened for a context", async () => {
    const { client, url, provider } = await taskServer([{ text: "Hello." }]);
    const id = `context-${await digestId("anne", "helper", "default")}`;
    const headers = { authorization: "Bearer key-of-anne", "content-type": "application/json" };
    const context = { messages: [{ role: "user", content: "From before." }] };
    await fetch(new URL("/api/sessions", url), { method: "POST", headers, body: JSON.stringify({ id, agent: "helper", context }) });
    const task = await asTask((await client()).sendMessage(message("And now?", { contextId: "default" })));
    expect(task.id.startsWith(`${id}.`)).toBe(true);
    expect(JSON.stringify(provider.requests[0]?.messages)).toContain("From before.");
  });

  it("reads no more runs for a list than its page has, and at most a hundred logs for one request", async () => {
    const { client, url } = await taskServer(() => ({ text: "Well." }));
    const anne = await client();
    const { contextId } = await asTask(anne.sendMessage(message("0")));
    for (let at = 1; at < 102; at += 1) await anne.sendMessage(message(String(at), { contextId }));
    let runs = 0;
    const direct = createClient({
      url,
      fetch: (request) => {
        if (request.url.includes("/runs/")) runs += 1;
        request.headers.set("authorization", "Bearer key-of-anne");
        return fetch(request);
      },
    });
    const about = { caller: { user: "anne", agent: "helper" }, signal: new AbortController().signal };
    expect((await listTasks(direct, { contextId, pageSize: 2 }, about)).tasks).toHaveLength(2);
    expect(runs).toBe(2);
    const failed = { contextId, status: "TASK_STATE_FAILED" };
    const page = await listTasks(direct, failed, about);
    expect([runs, page.tasks]).toEqual([101, []]);
    expect(await listTasks(direct, { ...failed, pageToken: page.nextPageToken }, about)).toMatchObject({ tasks: [], nextPageToken: "" });
    expect(runs).toBe(104);
    const late = { ...about, signal: AbortSignal.abort() };
    const { tasks, nextPageToken } = await listTasks(direct, { contextId }, late);
    expect([runs, tasks, nextPageToken === ""]).toEqual([104, [], false]);
  });

  it("gives a task at once where the client does not wait, and adds to the input of a run that works", async () => {
    const { client, provider } = await taskServer([{ calls: [{ name: "wait" }] }, { text: "Rain and wind." }], { tools: [waiting.tool] });
    const anne = await client();
    const { id } = await asTask(anne.sendMessage(message("The weather?", {}, { returnImmediately: true })));
    await waiting.begun;
    const kept = new Kept();
    const more = keep(anne.sendMessageStream(message("And the wind?", { taskId: id })), kept);
    await expect.poll(() => kept.task?.id, { timeout: 20_000 }).toBe(id);
    waiting.end();
    expect((await more).text).toBe("Rain and wind.");
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("And the wind?");
  });
});

/** A tool that runs until it is ended. */
const waiting = (() => {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const tool = defineTool({
    ...{ name: "wait", description: "Waits.", parameters: { type: "object" } },
    execute: async () => {
      begin();
      await promise;
      return "waited";
    },
  });
  return { tool, begun, end: () => end() };
})();

describe("the client of A2A 0.3, pointed at the same URL", () => {
  it("C73: discovers, sends, streams, and reads the task", async () => {
    const { legacyClient } = await taskServer([{ text: "Hello." }, { text: "It is raining.", chunkSize: 3 }]);
    const anne = await legacyClient();
    expect(await anne.getAgentCard()).toMatchObject({ name: "helper", protocolVersion: "0.3.0" });
    const task = await anne.sendMessage(legacyMessage("Hello"));
    expect(task).toMatchObject({
      kind: "task",
      status: { state: "completed" },
      artifacts: [{ parts: [{ kind: "text", text: "Hello." }] }],
    });
    let text = "";
    const kinds: string[] = [];
    for await (const event of anne.sendMessageStream(legacyMessage("Is it raining?"))) {
      kinds.push(event.kind === "status-update" ? `${event.status.state}${event.final ? " final" : ""}` : event.kind);
      if (event.kind === "artifact-update") text += event.artifact.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
    }
    expect([kinds[0], kinds[1], kinds.at(-1), text]).toEqual(["task", "working", "completed final", "It is raining."]);
  });

  it("C73: is asked, answers, and cancels", async () => {
    const { legacyClient } = await taskServer(
      [{ calls: [{ name: "delete_all" }] }, { text: "Well." }, { calls: [{ name: "delete_all" }] }],
      {
        tools: [bomb],
      },
    );
    const anne = await legacyClient();
    const asked = await anne.sendMessage(legacyMessage("Delete all."));
    if (asked.kind !== "task") throw new Error("The answer is no task.");
    expect(asked.status.state).toBe("input-required");
    expect(await anne.sendMessage(legacyMessage("allow", { taskId: asked.id }))).toMatchObject({
      id: asked.id,
      status: { state: "completed" },
    });
    const again = await anne.sendMessage(legacyMessage("Delete all."));
    if (again.kind !== "task") throw new Error("The answer is no task.");
    expect(await anne.cancelTask({ id: again.id })).toMatchObject({ status: { state: "canceled" } });
    await expect(anne.getTask({ id: "nothing" })).rejects.toMatchObject({ name: "TaskNotFoundError" });
  });

  it("gets an error of a stream as one that it knows", async () => {
    const { legacyClient } = await taskServer([]);
    const stream = (await legacyClient()).resubscribeTask({ id: "nothing" });
    await expect(stream.next()).rejects.toMatchObject({ cause: { name: "TaskNotFoundError" } });
  });
});

/** The response, which ends after these bytes of its events. */
function cutAfter(bytes: number, response: Response): Response {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const reader = response.body?.getReader();
  let left = bytes;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) return controller.close();
      controller.enqueue(value.subarray(0, left));
      left -= value.length;
      if (left > 0) return;
      await reader?.cancel();
      controller.error(new TypeError("The connection was reset."));
    },
  });
  return new Response(body, response);
}

describe("what goes wrong", () => {
  it("loses and doubles nothing where a stream is cut at any byte and the client subscribes to its task, or sends its message again", async () => {
    const script = [
      { text: "Let me see.", calls: [{ name: "clock" }], chunkSize: 4 },
      { text: "Noon. ☔", chunkSize: 2 },
    ];
    let cuts = 0;
    for (let bytes = 1; bytes < 5_000; bytes += 333) {
      const { client, provider } = await taskServer(script, { tools: [clock] });
      const lost = await client({ through: (response) => cutAfter(bytes, response) });
      const anne = await client();
      const question = message("What time is it?", { messageId: "question" });
      const kept = new Kept();
      const isWhole = await keep(lost.sendMessageStream(question), kept).then(
        () => true,
        () => false,
      );
      if (!isWhole) cuts += 1;
      const id = kept.task?.id;
      const again = id === undefined ? await keep(anne.sendMessageStream(question)) : await resumed(anne, id, kept);
      expect([again.text, again.states.at(-1), provider.requests.length], `after ${bytes} bytes`).toEqual(["Noon. ☔", "COMPLETED", 2]);
      // The same message has the same task.
      expect((await asTask(anne.sendMessage(question))).id).toBe(again.task?.id);
    }
    expect(cuts).toBeGreaterThan(5);
  });

  it("takes text back when the model is asked again", async () => {
    const { client } = await taskServer([{ text: "It is su", error: "MODEL_STREAM_BROKEN", chunkSize: 2 }, { text: "It rains." }]);
    const kept = await keep((await client()).sendMessageStream(message("Is it raining?")));
    expect([kept.text, kept.states]).toEqual(["It rains.", ["SUBMITTED", "WORKING", "COMPLETED"]]);
  });

  it("reports a failed run once, with its cause and its code", async () => {
    const { client, provider } = await taskServer([{ error: "MODEL_AUTH" }]);
    const kept = await keep((await client()).sendMessageStream(message("Hello")));
    const end = kept.events.at(-1)?.payload;
    expect(kept.states.at(-1)).toBe("FAILED");
    expect(end?.$case === "statusUpdate" && end.value.status?.message?.parts[1]?.content?.value).toEqual({ code: "MODEL_AUTH" });
    expect(provider.requests).toHaveLength(1);
  });

  it("runs once what two clients send at once under one id, and twice what has two", async () => {
    const { client, provider } = await taskServer([{ text: "One." }, { text: "Two." }]);
    const [first, second] = await Promise.all([client(), client()]);
    const question = message("Hello", { messageId: "m1" });
    const [one, other] = await Promise.all([keep(first.sendMessageStream(question)), keep(second.sendMessageStream(question))]);
    expect([one.task?.id, one.text]).toEqual([other.task?.id, other.text]);
    const third = await keep(first.sendMessageStream(message("Hello", { messageId: "m2", contextId: one.task?.contextId ?? "" })));
    expect([third.text, provider.requests.length]).toEqual(["Two.", 2]);
  });

  const user = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "Hello" }] };
  const rpc = (method: string, given: object = {}) => ({ jsonrpc: "2.0", id: 1, method, params: given });
  it.each([
    ["no JSON", "{", -32700],
    ["no object", [], -32600],
    ["no id", { jsonrpc: "2.0", method: "SendMessage", params: { message: user } }, -32600],
    ["an unknown method", rpc("Sing"), -32601],
    ["a method of 0.3", rpc("message/send", { message: user }), -32601],
    ["no message", rpc("SendMessage"), -32602],
    ["a message of an agent", rpc("SendMessage", { message: { ...user, role: "ROLE_AGENT" } }), -32602],
    ["no message id", rpc("SendMessage", { message: { ...user, messageId: "" } }), -32602],
    ["no parts", rpc("SendMessage", { message: { ...user, parts: [] } }), -32602],
    ["an unknown part", rpc("SendMessage", { message: { ...user, parts: [{ song: "la" }] } }), -32602],
    ["a foreign address", rpc("SendMessage", { message: { ...user, parts: [{ url: "file:///etc/passwd" }] } }), -32602],
    ["an answer in pictures", rpc("SendMessage", { message: user, configuration: { acceptedOutputModes: ["image/png"] } }), -32005],
    ["a task that there is not", rpc("GetTask", { id: "context-1.run" }), -32001],
    ["a task of no session", rpc("SubscribeToTask", { id: "../../etc" }), -32001],
    ["a page that there is not", rpc("ListTasks", { pageToken: "next" }), -32602],
    ["too large a page", rpc("ListTasks", { pageSize: 101 }), -32602],
    ["push notifications", rpc("CreateTaskPushNotificationConfig"), -32003],
    ["an extended card", rpc("GetExtendedAgentCard"), -32007],
  ])("refuses %s with its code before anything runs", async (_, body, code) => {
    const { send, provider } = await taskServer([{ text: "Never." }]);
    const response = await send(body);
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({ jsonrpc: "2.0", error: expect.objectContaining({ code }) }),
    ]);
    expect(provider.requests).toHaveLength(0);
  });

  it("refuses a version that it does not speak, an agent that there is not, and more for a task that has ended", async () => {
    const { send, client, url } = await taskServer([{ text: "Done." }]);
    expect(await (await send(rpc("SendMessage", { message: user }), { "a2a-version": "2.0" })).json()).toMatchObject({
      id: 1,
      error: { code: -32009 },
    });
    const anne = await client();
    const { id } = await asTask(anne.sendMessage(message("Hello")));
    await expect(anne.sendMessage(message("More.", { taskId: id }))).rejects.toMatchObject({ name: "UnsupportedOperationError" });
    await expect(anne.resubscribeTask({ ...params, id }).next()).rejects.toMatchObject({ name: "UnsupportedOperationError" });
    const headers = { authorization: "Bearer key-of-anne", "content-type": "application/json", "a2a-version": "1.0" };
    const unanswered = await fetch(`${url}/a2a/nothing`, {
      method: "POST",
      headers,
      body: JSON.stringify(rpc("SendMessage", { message: user })),
    });
    expect([unanswered.status, await unanswered.json()]).toMatchObject([
      404,
      { error: { code: -32603, data: [{ metadata: { code: "AGENT_NOT_FOUND" } }] } },
    ]);
  });
});

/** The rest of a task by the client's own way: it subscribes, or reads the task where it has ended. */
async function resumed(
  client: {
    resubscribeTask(given: { tenant: string; id: string }): AsyncIterable<StreamResponse>;
    getTask(given: { tenant: string; id: string }): Promise<Task>;
  },
  id: string,
  kept: Kept,
): Promise<Kept> {
  try {
    return await keep(client.resubscribeTask({ ...params, id }), kept);
  } catch {
    const task = await client.getTask({ ...params, id });
    kept.take({ payload: { $case: "task", value: task } });
    return kept;
  }
}
