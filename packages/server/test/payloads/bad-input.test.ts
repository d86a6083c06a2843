import { describe, expect, it } from "vitest";
import { routeTable } from "../../src/http/route-table.ts";
import { pickColour, type SentBody, scriptedAgent } from "../test-server.ts";
import { type PayloadScene, payloadScene } from "./payload-scene.ts";
import { json } from "./raw-exchange.ts";

/** Stands in the body wherever text may stand: it must not come back. */
const canary = "canary-4711";
const text = `Tell me about ${canary}`;
const user = (content: unknown) => ({ role: "user", content });

/** A body with one thing wrong with it, and the field that the answer names. */
type Flaw = readonly [what: string, body: unknown, field: string];

interface Entry {
  readonly path: string;
  readonly method?: string;
  readonly flaws: readonly Flaw[];
  /** The body may be missing. */
  readonly isOptional?: boolean;
}

const tool = { name: "t", description: canary, parameters: {} };
const result = { role: "tool_result", toolCallId: "c1", content: canary };
const asked = { calls: [{ name: "pick_colour", args: {}, id: "c1" }] };

/** One for each route that reads JSON, by its id. */
const entries: { readonly [id: string]: Entry } = {
  execute: {
    path: "/api/agent/execute",
    flaws: [
      ["no input", { context: {} }, "input"],
      ["a number for the input", { context: {}, input: 1 }, "input"],
      ["nothing but spaces", { context: {}, input: " \n" }, "input"],
      ["no role", { context: {}, input: { content: text } }, "input.role"],
      ["an unknown role", { context: {}, input: { role: "system", content: text } }, "input.role"],
      [
        "an unknown part",
        { context: {}, input: user([{ type: "video", text }]) },
        "item 0: `type` is none of text, image, file and json. The field: `input.content[0].type`.",
      ],
      ["a part without its text", { context: {}, input: user([{ type: "text", words: text }]) }, "input.content[0].text"],
      ["an id that is none", { sessionId: "../a", input: text }, "sessionId"],
      ["a list for the context", { context: [text], input: text }, "context"],
      ["an unknown effort", { context: {}, input: text, options: { reasoningEffort: "all" } }, "options.reasoningEffort"],
      ["a temperature beyond all", { context: {}, input: text, options: { temperature: 3 } }, "options.temperature"],
      ["half a token", { context: {}, input: text, options: { maxTokens: 0.5 } }, "options.maxTokens"],
      ["an unknown mode", { context: {}, input: text, options: { mode: canary } }, "options.mode"],
      ["a tool without a name", { context: { tools: [{ ...tool, name: undefined }] }, input: text }, "context.tools[0].name"],
      ["a tool of a bad name", { context: { tools: [tool, { ...tool, name: "a b" }] }, input: text }, "context.tools[1].name"],
      ["a tool without a schema", { context: { tools: [{ ...tool, parameters: canary }] }, input: text }, "context.tools[0].parameters"],
      ["a message without content", { context: { messages: [user(text), { role: "user" }] }, input: text }, "context.messages[1].content"],
    ],
  },
  createSession: {
    path: "/api/sessions",
    flaws: [
      ["a number for the id", { id: 1 }, "id"],
      ["an id that is none", { id: "A B" }, "id"],
      ["a title that is none", { title: [canary] }, "title"],
      ["a title too long", { title: canary.repeat(100) }, "title"],
      ["a text for the metadata", { metadata: canary }, "metadata"],
      ["a list for the metadata", { metadata: [canary] }, "metadata"],
      ["a number for the prompt", { context: { systemPrompt: 1 } }, "context.systemPrompt"],
      ["a text for the tools", { context: { tools: canary } }, "context.tools"],
    ],
  },
  changeSession: {
    path: "/api/sessions/a",
    method: "PATCH",
    flaws: [
      ["nothing to change", {}, "title"],
      ["nothing that is known", { name: canary }, "title"],
      ["a number for the title", { title: 1 }, "title"],
      ["a text for the metadata", { metadata: canary }, "metadata"],
      ["a number for the head", { head: 1 }, "head"],
      ["a text for the retention", { retention: canary }, "retention"],
      ["a retention that is too short", { retention: { keepMs: 1 } }, "retention.keepMs"],
    ],
  },
  shareSession: {
    path: "/api/sessions/a/sharing",
    method: "PUT",
    flaws: [
      ["a text for the users", { users: canary }, "users"],
      ["a role that there is not", { users: { ben: canary } }, "users.ben"],
      ["an owner for the whole scope", { scope: "owner" }, "scope"],
    ],
  },
  createTicket: {
    path: "/api/tickets",
    flaws: [
      ["no path", {}, "path"],
      ["a path of another server", { path: "https://evil.example/x" }, "path"],
      ["a path too long", { path: canary.repeat(200) }, "path"],
    ],
  },
  holdSession: {
    path: "/api/sessions/a/hold",
    method: "PUT",
    isOptional: true,
    flaws: [
      ["a number for the reason", { reason: 1 }, "reason"],
      ["a reason too long", { reason: canary.repeat(200) }, "reason"],
    ],
  },
  setSchedule: {
    path: "/api/sessions/a/schedules/daily",
    method: "PUT",
    flaws: [
      ["no input", { everyMs: 60_000 }, "input"],
      ["results for the input", { input: [result], everyMs: 60_000 }, "input"],
      ["no time", { input: text }, "at"],
      ["words for the time", { input: text, at: canary }, "at"],
      ["a zone that does not exist", { input: text, at: "2100-01-01T09:00", timeZone: canary }, "timeZone"],
      ["a text for the interval", { input: text, everyMs: canary }, "everyMs"],
      ["an unknown mode", { input: text, everyMs: 60_000, mode: canary }, "mode"],
    ],
  },
  submitMessage: {
    path: "/api/sessions/a/messages",
    flaws: [
      ["nothing to answer", {}, "input"],
      ["two things to answer", { input: text, message: text }, "input"],
      ["a number for the message", { message: 1 }, "message"],
      ["a result for the message", { message: result }, "message.role"],
      ["an unknown mode", { input: text, mode: "later" }, "mode"],
      ["a number for the parent", { input: text, parent: 1 }, "parent"],
      ["a number for the message to answer again", { regenerate: 1 }, "regenerate"],
      [
        "an image of two sources",
        { message: user([{ type: "image", mediaType: "image/png", source: { url: "https://x/a", data: canary } }]) },
        "message.content[0].source",
      ],
      ["an image without a type", { message: user([{ type: "image", source: { data: canary } }]) }, "message.content[0].mediaType"],
      ["a text for the options", { input: text, options: canary }, "options"],
      ["a model without a name", { input: text, options: { model: "" } }, "options.model"],
    ],
  },
  sendResults: {
    path: "/api/sessions/a/tool-results",
    flaws: [
      ["no results", {}, "results"],
      ["one result without a list", { results: result }, "results"],
      ["a result without a call", { results: [{ ...result, toolCallId: undefined }] }, "results[0].toolCallId"],
      ["an unknown outcome", { results: [{ ...result, outcome: "great" }] }, "results[0].outcome"],
      ["a text for a flag", { results: [{ ...result, isError: canary }] }, "results[0].isError"],
      ["a number for the content", { results: [result, { ...result, content: 1 }] }, "results[1].content"],
      ["a message of a user", { results: [user(text)] }, "results[0].role"],
      ["an empty list", { results: [] }, "list of results"],
    ],
  },
  decideCall: {
    path: "/api/sessions/a/approvals/r.1.0",
    flaws: [
      ["no decision", {}, "decision"],
      ["a decision of another kind", { decision: "perhaps" }, "decision"],
      ["arguments that are a list", { decision: "allow", args: [1] }, "args"],
      ["a note that is no text", { decision: "deny", note: 7 }, "note"],
      ["a note too long", { decision: "deny", note: canary.repeat(200) }, "note"],
      ["a digest too long", { decision: "allow", argsDigest: canary.repeat(10) }, "argsDigest"],
      ["a memory of another length", { decision: "allow", remember: { for: "ever" } }, "remember.for"],
      ["a pattern that is a text", { decision: "allow", remember: { for: "session", pattern: canary } }, "remember.pattern"],
    ],
  },
  publishNotification: {
    path: "/api/notifications",
    flaws: [
      ["no type", { data: canary }, "type"],
      ["a number for the type", { type: 7 }, "type"],
      ["a type that is no name", { type: canary.toUpperCase() }, "type"],
      ["a list of receivers", { type: "refresh", to: [canary] }, "to"],
    ],
  },
  forkSession: {
    path: "/api/sessions/a/fork",
    isOptional: true,
    flaws: [
      ["a number for the message", { message: 7 }, "message"],
      ["an id that is none", { id: "A B" }, "id"],
      ["a title that is none", { title: [canary] }, "title"],
      ["a message too long", { message: canary.repeat(10) }, "message"],
      ["metadata that is a list", { metadata: [canary] }, "metadata"],
    ],
  },
  abortRun: {
    path: "/api/sessions/a/abort",
    isOptional: true,
    flaws: [
      ["a number for the reason", { reason: 1 }, "reason"],
      ["a reason too long", { reason: canary.repeat(100) }, "reason"],
    ],
  },
};

const all = Object.entries(entries).map(([id, entry]) => [id, entry] as const);

/** A session that waits for its caller, so that every route below it has something to spoil. */
async function waiting(): Promise<PayloadScene> {
  const scene = await payloadScene({
    agents: [scriptedAgent([asked, { text: "Red." }], { tools: [pickColour] })],
    limits: { bodyBytes: 4_000, writesPerMinute: 600 },
  });
  await scene.ask("/api/sessions", { json: { id: "a" } });
  await scene.ask("/api/sessions/a/messages", { json: { input: "Pick" } });
  await (await scene.send("/api/sessions/a/events")).text();
  return scene;
}

interface Sent {
  readonly body?: SentBody;
  readonly headers?: Record<string, string>;
}

/** What is sent, over the port, to a body that cannot be used. Fails where the log has changed or the body comes back. */
async function written(scene: PayloadScene, { path, method = "POST" }: Entry, { body, headers = json }: Sent) {
  const before = scene.writes.length;
  const response = await fetch(`${scene.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const answer = await response.text();
  expect(response.headers.get("Content-Type")).toBe("application/problem+json");
  expect(response.headers.get("X-Request-Id")).toMatch(/./);
  expect(answer).not.toContain(canary);
  expect(scene.writes.slice(before)).toEqual([]);
  const problem = JSON.parse(answer) as { readonly detail: string; readonly fix: string; readonly code: string; readonly docs: string };
  expect(problem).toMatchObject({ status: response.status, retryable: false, docs: `docs/errors.md#${problem.code.toLowerCase()}` });
  expect(problem.fix).toMatch(/\w{3,}.*\./);
  return problem;
}

describe("a body that cannot be used", () => {
  it("has an entry here for each route that reads JSON", () => {
    expect(Object.keys(entries).sort()).toEqual(
      routeTable
        .filter(({ body }) => body)
        .map(({ id }) => id)
        .sort(),
    );
    for (const { id, bodyOptional = false } of routeTable.filter(({ body }) => body))
      expect(entries[id]?.isOptional ?? false).toBe(bodyOptional);
  });

  it.each(all)(
    "of the route %s is refused with the name of what is wrong; it does not come back, and nothing is kept",
    async (_, entry) => {
      const scene = await waiting();
      for (const [what, body, field] of entry.flaws) {
        const problem = await written(scene, entry, { body: JSON.stringify(body) });
        expect([what, problem]).toMatchObject([what, { code: "INPUT_INVALID", status: 400 }]);
        expect([what, problem.detail]).toEqual([what, expect.stringContaining(field)]);
      }
    },
  );

  it.each(all)("of the route %s is refused by its form: no JSON, no object, nothing, of another type, or too long", async (_, entry) => {
    const scene = await waiting();
    const flat = (value: string) => ({ body: value });
    const forms: readonly (readonly [sent: Sent, status: number, code: string, word: string])[] = [
      [flat(`{"input": ${canary}`), 400, "INPUT_INVALID", "not JSON"],
      [flat(`"${text}"`), 400, "INPUT_INVALID", "The body"],
      [flat(`["${text}"]`), 400, "INPUT_INVALID", "The body"],
      [flat("null"), 400, "INPUT_INVALID", "The body"],
      [
        { body: `input=${canary}`, headers: { "Content-Type": "application/x-www-form-urlencoded" } },
        415,
        "MEDIA_TYPE_UNSUPPORTED",
        "application/json",
      ],
      [{ body: `{"input":"${text}"}`, headers: { "Content-Type": "text/plain" } }, 415, "MEDIA_TYPE_UNSUPPORTED", "application/json"],
      [{ body: new Uint8Array(Buffer.from(`{"input":"${text}"}`)), headers: {} }, 415, "MEDIA_TYPE_UNSUPPORTED", "application/json"],
      [flat(JSON.stringify({ input: canary.repeat(1_000) })), 413, "PAYLOAD_TOO_LARGE", "4000 bytes"],
      ...(entry.isOptional ? [] : ([[{}, 400, "INPUT_INVALID", "not JSON"]] as const)),
    ];
    for (const [sent, status, code, word] of forms)
      expect(await written(scene, entry, sent)).toMatchObject({ status, code, detail: expect.stringContaining(word) });
  });
});

describe("other input that cannot be used", () => {
  it("is refused in the same way: queries, cursors, keys, file names and media types", async () => {
    const scene = await waiting();
    const png = { "Content-Type": "image/png" };
    const cases: readonly (readonly [path: string, sent: Sent & { method?: string }, status: number, word: string])[] = [
      ["/api/sessions?limit=many", {}, 400, "limit"],
      ["/api/sessions?limit=0", {}, 400, "limit"],
      [`/api/sessions?before=${canary}`, {}, 400, "before"],
      [`/api/sessions?search=${canary.repeat(100)}`, {}, 400, "search"],
      ["/api/sessions/a/events?from=then", {}, 400, "from"],
      [`/api/sessions/a/events?after=${canary}`, {}, 400, "cursor"],
      ["/api/sessions/a/events", { headers: { "Last-Event-ID": canary } }, 400, "cursor"],
      ["/api/sessions/a/events?after=999.0", {}, 409, "cursor"],
      [`/api/notifications?session=a@${canary}`, {}, 400, "cursor"],
      [`/api/notifications?dialect=${canary}`, {}, 400, "dialect"],
      [`/api/notifications?${"session=a&".repeat(21)}`, {}, 400, "21 sessions"],
      [
        "/api/sessions/a/messages",
        { method: "POST", body: '{"input":"Hi"}', headers: { ...json, "Idempotency-Key": `${canary} two` } },
        400,
        "Idempotency-Key",
      ],
      [
        "/api/sessions/a/messages",
        { method: "POST", body: '{"input":"Hi"}', headers: { ...json, "Idempotency-Key": "x".repeat(201) } },
        400,
        "Idempotency-Key",
      ],
      [
        "/api/agent/execute",
        { method: "POST", body: '{"input":"Hi","context":{}}', headers: { ...json, "Last-Event-ID": canary } },
        400,
        "cursor",
      ],
      ["/api/files", { method: "POST", body: canary, headers: { "Content-Type": canary } }, 415, "media type"],
      ["/api/files", { method: "POST", headers: png }, 400, "empty"],
      ["/api/files", { method: "POST", body: canary, headers: { ...png, "X-File-Name": "%zz" } }, 400, "X-File-Name"],
      [`/api/files/${canary}`, { method: "DELETE" }, 404, "no file"],
      [`/api/files/upload-${canary}`, { method: "DELETE" }, 404, "no file"],
      ["/api/files", { method: "POST", body: canary, headers: { ...png, "Content-Encoding": "br" } }, 415, "compressed"],
    ];
    const before = scene.writes.length;
    for (const [path, { method = "GET", ...sent }, status, word] of cases) {
      const response = await scene.send(path, { method, ...sent });
      const answer = await response.text();
      expect([path, response.status]).toEqual([path, status]);
      expect((JSON.parse(answer) as { detail: string }).detail).toContain(word);
      expect(answer).not.toContain(canary);
    }
    expect(scene.writes).toHaveLength(before);
  });

  it("is accepted when it is only repeated: a session that is named twice is delivered once", async () => {
    const { send, ask } = await waiting();
    const stream = await send("/api/notifications?session=a&session=a@0.0&session=a");
    const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let notified = "";
    const readTo = async (word: string): Promise<void> => {
      while (!notified.includes(word)) notified += (await reader.read()).value ?? "";
    };
    await readTo("awaiting_tool_execution");
    await ask("/api/sessions/a", { method: "PATCH", json: { title: "The last word" } });
    await readTo("The last word");
    await reader.cancel();
    expect(notified.match(/^event: run_start$/gm)).toHaveLength(1);
  });
});
