import type { SessionSnapshot } from "@loopwright/core/protocol";
import { expect, it, onTestFinished } from "vitest";
import { clientScene } from "./client-scene.ts";
import { pickColour, type Sent, scriptedAgent, testServer } from "./test-server.ts";

const answers = [{ text: "One." }, { text: "Two." }, { text: "Three." }];

/** A server with a session `source` of as many answered questions. */
async function withSource(questions: number, agents = [scriptedAgent(answers)]) {
  const tested = testServer({ agents });
  onTestFinished(() => tested.server.close());
  await tested.ask("/api/sessions", { json: { id: "source", title: "Numbers" } });
  for (let n = 1; n <= questions; n++) await say(tested, "source", `Question ${n}`);
  const read = async (id: string) => (await tested.ask<SessionSnapshot>(`/api/sessions/${id}`)).body;
  const fork = (sent: Sent) => tested.ask<SessionSnapshot>("/api/sessions/source/fork", { method: "POST", ...sent });
  return { ...tested, read, fork };
}

type Tested = Pick<ReturnType<typeof testServer>, "send">;

/** Sends and waits for the whole answer. */
const say = async ({ send }: Tested, sessionId: string, input: string): Promise<string> =>
  (await send("/api/agent/execute", { json: { sessionId, input } })).text();

const wordsOf = ({ messages }: SessionSnapshot): readonly unknown[] =>
  messages.map(({ message }) =>
    message.role === "notice" || typeof message.content === "string"
      ? message
      : message.content.map((part) => (part.type === "text" ? part.text : part.type)),
  );

it("a fork has the messages up to one of them, continues by itself, and leaves its source as it was", async () => {
  const { fork, read, send } = await withSource(2);
  const source = await read("source");
  const answer = source.messages[1];
  const { status, headers, body } = await fork({ json: { message: answer?.id, id: "fork", metadata: { case: 7 } } });
  expect(status).toBe(201);
  expect(headers.get("Location")).toBe("/api/sessions/fork");
  expect(body).toMatchObject({ sessionId: "fork", agent: "helper", title: "Numbers", status: "idle" });
  expect(body.metadata).toEqual({ case: 7, forkedFrom: { session: "source", message: answer?.id } });
  expect(body.messages.map(({ message }) => message)).toEqual(source.messages.slice(0, 2).map(({ message }) => message));
  expect(body.cost).toBeUndefined();
  await say({ send }, "fork", "Another question");
  expect((await read("fork")).messages).toHaveLength(4);
  expect(await read("source")).toEqual(source);
});

it("a fork at an event has what people had seen then, with a prompt of its own", async () => {
  const { fork, read } = await withSource(2);
  const source = await read("source");
  const [question, answer] = source.messages;
  // The number of an answer is that of its beginning: at that event people had the question alone.
  expect(wordsOf((await fork({ json: { at: Number(answer?.id) } })).body)).toEqual([question?.message]);
  // A question is shown from the beginning of its run on.
  expect(wordsOf((await fork({ json: { at: Number(question?.id) } })).body)).toEqual([]);
  expect((await fork({ json: { at: 1 } })).body.messages).toEqual([]);
  const { body } = await fork({ json: { at: Number(source.messages[3]?.id), context: { systemPrompt: "Answer in rhymes." } } });
  expect(body.messages).toHaveLength(3);
  expect(body.metadata).toEqual({ forkedFrom: { session: "source", message: source.messages[2]?.id } });
  for (const wrong of [{ at: 9_999 }, { at: 0 }, { at: 2, message: question?.id }]) expect((await fork({ json: wrong })).status).toBe(400);
});

it("a fork without a body has all that people see", async () => {
  const { fork, read } = await withSource(2);
  const { status, body } = await fork({});
  expect(status).toBe(201);
  expect(wordsOf(body)).toEqual(wordsOf(await read("source")));
});

it("a fork of another branch has that branch alone", async () => {
  const { fork, read, ask, send } = await withSource(1);
  const [question] = (await read("source")).messages;
  await send("/api/sessions/source/messages", { json: { input: "Asked in another way", parent: null } });
  await expect.poll(async () => (await read("source")).messages.length).toBe(4);
  expect(wordsOf((await fork({ json: {} })).body)[0]).toMatchObject({ content: "Asked in another way" });
  expect(wordsOf((await fork({ json: { message: question?.id } })).body)).toMatchObject([{ content: "Question 1" }]);
  expect((await ask<{ sessions: readonly unknown[] }>("/api/sessions")).body.sessions).toHaveLength(3);
});

it("a fork where a call waits for its client has that call without a result, and its model gets a valid history", async () => {
  const { fork, read, send } = await withSource(0, [
    scriptedAgent([{ calls: [{ name: "pick_colour" }] }, { text: "Done." }], { tools: [pickColour] }),
  ]);
  await say({ send }, "source", "Ask me.");
  expect((await read("source")).status).toBe("waiting");
  const { body } = await fork({ json: { id: "fork" } });
  expect(body.status).toBe("idle");
  expect(await say({ send }, "fork", "Go on.")).toContain("Done.");
  expect((await read("source")).status).toBe("waiting");
});

it("a fork that is sent again under its key is one session, also where the source has grown", async () => {
  const { fork, read, send, ask, refused } = await withSource(1);
  const headers = { "Idempotency-Key": "fork-1" };
  const first = await fork({ json: {}, headers });
  await say({ send }, "source", "One more");
  const again = await fork({ json: {}, headers });
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.body.sessionId).toBe(first.body.sessionId);
  expect((await read(first.body.sessionId)).messages).toHaveLength(2);
  expect((await ask<{ sessions: readonly unknown[] }>("/api/sessions")).body.sessions).toHaveLength(2);
  const other = { method: "POST", json: { title: "Other" }, headers };
  expect(await refused("/api/sessions/source/fork", other)).toMatchObject({ status: 422, code: "KEY_REUSED" });
});

it("a fork of what is not there, at a message that is not there, or under a used id is refused, and begins nothing", async () => {
  const { refused, ask } = await withSource(1);
  const fork = (json: object, source = "source") => refused(`/api/sessions/${source}/fork`, { method: "POST", json });
  expect(await fork({}, "absent")).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
  expect(await fork({ message: "99" })).toMatchObject({ status: 400, code: "INPUT_INVALID", detail: "The session has no message `99`." });
  expect(await fork({ id: "source" })).toMatchObject({ status: 409, code: "SESSION_EXISTS" });
  expect(await fork({ agent: "nowhere" })).toMatchObject({ status: 404, code: "AGENT_NOT_FOUND" });
  expect(await fork({ id: "Not An Id" })).toMatchObject({ status: 400 });
  expect((await ask<{ sessions: readonly unknown[] }>("/api/sessions")).body.sessions).toHaveLength(1);
});

it("a file of the source stays readable in the fork when the source is deleted", async () => {
  const { fork, ask, send } = await withSource(0);
  const bytes = new Uint8Array([...[137, 80, 78, 71, 13, 10, 26, 10], ...[0, 0, 0, 13, 73, 72, 68, 82], ...[0, 0, 0, 1, 0, 0, 0, 1]]);
  const { body: file } = await ask<{ blob: string }>("/api/files", { body: bytes, headers: { "Content-Type": "image/png" } });
  const image = { type: "image", mediaType: "image/png", source: { blob: file.blob } };
  const content = [{ type: "text", text: "What is this?" }, image];
  await (await send("/api/agent/execute", { json: { sessionId: "source", input: { role: "user", content } } })).text();
  await fork({ json: { id: "fork" } });
  expect((await send("/api/sessions/source", { method: "DELETE" })).status).toBe(204);
  const read = await send(`/api/files/${file.blob}`);
  expect([read.status, new Uint8Array(await read.arrayBuffer())]).toEqual([200, bytes]);
});

it("an export is Markdown to read or JSON with every branch, under a file name made of the title", async () => {
  await using scene = clientScene({ script: answers, cuts: 5 });
  const { sessions, execute } = scene.client;
  await sessions.create({ id: "s1", title: "Über Züge / 東京?" });
  await execute("Question 1", { sessionId: "s1" }).result();
  const markdown = await sessions.export("s1", "markdown");
  expect(markdown).toMatchObject({ fileName: "über-züge-東京.md", mediaType: "text/markdown; charset=utf-8" });
  expect(markdown.text).toMatch(/^# Über Züge \/ 東京\?\n\ntester, .*\n\n## User\n\nQuestion 1\n\n## Assistant \(.*\)\n\nOne\.\n$/);
  const json = await sessions.export("s1", "json");
  expect(json.fileName).toBe("über-züge-東京.json");
  expect(JSON.parse(json.text)).toMatchObject({ format: "loopwright-session", version: 1, session: await sessions.get("s1") });
});

it("an export in another format, or of a session that is not there, is refused", async () => {
  const { refused } = await withSource(0);
  expect(await refused("/api/sessions/source/export?format=pdf")).toMatchObject({ status: 400 });
  expect(await refused("/api/sessions/absent/export")).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
});

it("a caller forks with the rights to read the source and to begin a session", async () => {
  const asked: unknown[] = [];
  const authorize = (_: unknown, action: string, session?: string) => {
    asked.push([action, session]);
    return !(action === "session.create" && session === "forbidden");
  };
  const { ask, refused, server } = testServer({ authorize });
  onTestFinished(() => server.close());
  await ask("/api/sessions", { json: { id: "a" } });
  asked.length = 0;
  expect((await ask("/api/sessions/a/fork", { method: "POST", json: { id: "b" } })).status).toBe(201);
  expect(asked).toEqual([
    ["session.read", "a"],
    ["session.create", "b"],
  ]);
  expect(await refused("/api/sessions/a/fork", { method: "POST", json: { id: "forbidden" } })).toMatchObject({ status: 403 });
});
