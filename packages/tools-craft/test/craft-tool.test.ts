import { type AgentEvent, createAgent, createSession, execute } from "@loopwright/core";
import { memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import { runKit, toolKit } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { artifactOf, artifactsOf, type CraftArguments, type CraftToolOptions, craftTool } from "../src/index.ts";

const long = Array.from({ length: 300 }, (_, at) => `word${at}`).join(" ");
const crafts = (...all: readonly CraftArguments[]): ScriptedTurn => ({
  calls: all.map((args) => ({ name: "craft_tool", args: args as never })),
});

function crafting(turns: readonly ScriptedTurn[], options: CraftToolOptions = {}, store = memoryStore()) {
  const provider = scripted(turns);
  const agent = createAgent({ name: "author", provider, tools: [craftTool(options)] });
  return { provider, store, session: createSession({ agent, id: "work", store }) };
}

describe("craft_tool keeps the promises of a tool (B99)", () =>
  runKit(it, toolKit, {
    make: async () => ({
      tool: craftTool(),
      args: { title: "Poem", content: long },
      failingArgs: { id: "artifact-9", content: "x" },
    }),
  }));

describe("artifacts", () => {
  it("B99: two edits give the versions 1, 2 and 3 of one id, and the edited places alone change", async () => {
    const { session } = crafting([
      crafts({ title: "Sum", kind: "code", language: "typescript", content: "const a = 1;\nconst b = 2;\n" }),
      crafts({ id: "artifact-1", edits: [{ find: "a = 1", replace: "a = 10" }] }),
      crafts({ id: "artifact-1", title: "Product", content: "a * b" }),
      { text: "Done." },
    ]);
    await execute(session, "Write it.").result();
    const [artifact, ...others] = artifactsOf(session.messages);
    expect([artifact?.id, others.length]).toEqual(["artifact-1", 0]);
    expect(artifact?.versions.map(({ version, title, content }) => [version, title, content])).toEqual([
      [1, "Sum", "const a = 1;\nconst b = 2;\n"],
      [2, "Sum", "const a = 10;\nconst b = 2;\n"],
      [3, "Product", "a * b"],
    ]);
    expect(artifact?.versions.every(({ kind, language }) => kind === "code" && language === "typescript")).toBe(true);
    expect(artifactOf(session.messages, "artifact-1", 2)?.content).toContain("a = 10");
    expect(artifactOf(session.messages, "artifact-1", 4)).toBeUndefined();
  });

  it("B99: an artifact streams while it is made, in order and before the end of its call", async () => {
    const { session } = crafting([crafts({ title: "Long", content: long }), { text: "Done." }]);
    const events: AgentEvent[] = [];
    for await (const event of execute(session, "Write it.")) events.push(event);
    const end = events.findIndex(({ type }) => type === "tool_execution_end");
    const deltas = events.flatMap((event, at) => (event.type === "tool_execution_delta" ? [{ at, text: event.delta }] : []));
    expect(deltas.map(({ text }) => text).join("")).toBe(long);
    expect(Math.max(...deltas.map(({ at }) => at))).toBeLessThan(end);
  });

  it("B99: the next request reads it as already shown", async () => {
    const { provider, session } = crafting([crafts({ title: "Long", content: long }), { text: "Done." }]);
    await execute(session, "Write it.").result();
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toMatch(/already_shown_to_the_user.*word299/);
  });

  it("B57, B99: a later run reads its first 100 words, as already shown", async () => {
    const { provider, session } = crafting([crafts({ title: "Long", content: long }), { text: "Done." }, { text: "Gladly." }]);
    await execute(session, "Write it.").result();
    await execute(session, "Thank you.").result();
    // The artifact itself stands in `details`, which no vendor is sent.
    const result = JSON.stringify(provider.requests[2]?.messages.flatMap((one) => (one.role === "tool_result" ? [one.content] : [])));
    expect(result).toMatch(/already_shown_to_the_user.*word0 .*word99 \.\.\./);
    expect(result).not.toContain("word100");
  });

  it("two calls of one turn give two artifacts, or two versions of one", async () => {
    const { session } = crafting([
      crafts({ title: "A", content: "a" }, { title: "B", content: "b" }),
      crafts({ id: "artifact-2", content: "bb" }, { id: "artifact-2", content: "bbb" }),
      { text: "Done." },
    ]);
    await execute(session, "Write them.").result();
    expect(artifactsOf(session.messages).map(({ id, versions }) => [id, versions.map(({ content }) => content)])).toEqual([
      ["artifact-1", ["a"]],
      ["artifact-2", ["b", "bb", "bbb"]],
    ]);
  });

  it("survive a restart: the next process continues the versions of the log, also of contents too large for it", async () => {
    const content = "x".repeat(150_000);
    const { session, store } = crafting([crafts({ title: "Large", content }), { text: "Done." }]);
    await execute(session, "Write it.").result();
    await session[Symbol.asyncDispose]();
    const later = crafting(
      [crafts({ id: "artifact-1", edits: [{ find: content, replace: "short" }] }), { text: "Done." }],
      {},
      store,
    ).session;
    await execute(later, "Shorter.").result();
    expect(artifactsOf(later.messages)[0]?.versions.map(({ version, content: { length } }) => [version, length])).toEqual([
      [1, 150_000],
      [2, 5],
    ]);
  });

  it.each<readonly [string, CraftArguments, RegExp]>([
    ["an id that the session does not have", { id: "artifact-7", content: "x" }, /no artifact `artifact-7`.*artifact-1/],
    ["a new one without a title", { content: "x" }, /needs `title`/],
    ["content and edits at once", { id: "artifact-1", content: "x", edits: [{ find: "a", replace: "b" }] }, /either `content` or `edits`/],
    ["a place that is not there", { id: "artifact-1", edits: [{ find: "zzz", replace: "b" }] }, /edit 1 stands nowhere/],
    ["a place that is there twice", { id: "artifact-1", edits: [{ find: "an", replace: "b" }] }, /edit 1 stands more than once/],
    ["more than the limit of characters", { id: "artifact-1", content: "x".repeat(101) }, /at most 100 characters/],
    ["more than the limit of artifacts", { title: "B", content: "x" }, /at most 1 artifacts/],
    ["more than the limit of versions", { id: "artifact-1", content: "x" }, /at most 1 versions/],
  ])("are refused, and nothing changes: %s", async (name, args, message) => {
    const options = { charactersMax: 100, artifactsMax: 1, versionsMax: name.includes("versions") ? 1 : 5 };
    const { provider, session } = crafting([crafts({ title: "A", content: "banana" }), crafts(args), { text: "Done." }], options);
    await execute(session, "Write it.").result();
    expect(JSON.stringify(provider.requests.at(-1)?.messages.at(-1))).toMatch(message);
    expect(artifactsOf(session.messages).map(({ versions }) => versions.map(({ content }) => content))).toEqual([["banana"]]);
  });
});
