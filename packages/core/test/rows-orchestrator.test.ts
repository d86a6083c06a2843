import { existsSync, readdirSync, readFileSync } from "node:fs";
/* Rows of the orchestrator that the loop itself has: tools beside one another, what they see of the conversation, and what stops it. */
import { expect, it } from "vitest";
import { defineTool, execute, type Message } from "../src/index.ts";
import { deferred, eventsOf, ofType, world } from "./harness.ts";

const object = { type: "object" } as const;
const look = defineTool({ name: "look", description: "Looks.", parameters: object, execute: () => "seen" });

it("B10: the tools of one turn overlap, and their results stand in call order whichever ends first", async () => {
  const [first, second] = [deferred(), deferred()];
  const tool = (name: string, own: typeof first, other: typeof first) =>
    defineTool({
      name,
      description: `Waits for the other of ${name}.`,
      parameters: object,
      async execute() {
        own.resolve();
        await other.promise;
        return name;
      },
    });
  const { session, provider } = world([{ calls: [{ name: "slow" }, { name: "fast" }] }, { text: "ok" }], {
    tools: [tool("slow", first, second), tool("fast", second, first)],
  });
  expect(await execute(session, "x").result()).toMatchObject({ status: "completed" });
  const results = provider.requests[1]?.messages.filter(({ role }) => role === "tool_result");
  expect(results).toMatchObject([{ toolName: "slow" }, { toolName: "fast" }]);
});

it("B94: a tool of the second turn reads the result of the first one in its conversation", async () => {
  const seen: (readonly Message[])[] = [];
  const read = defineTool({
    name: "read",
    description: "Reads the conversation.",
    parameters: object,
    execute(_args, { session }) {
      seen.push(session.messages());
      return "read";
    },
  });
  const { session } = world([{ calls: [{ name: "look" }] }, { calls: [{ name: "read" }] }, { text: "ok" }], { tools: [look, read] });
  await execute(session, "x").result();
  expect(JSON.stringify(seen[0])).toContain("seen");
});

it("B95: an abort while a tool runs makes no further model call, and the usage until then counts", async () => {
  const started = deferred();
  const waits = defineTool({
    name: "waits",
    description: "Waits until it is aborted.",
    parameters: object,
    execute(_args, { signal }) {
      started.resolve();
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"), { once: true }));
    },
  });
  const { session, provider } = world([{ calls: [{ name: "waits" }], usage: { input: 10, output: 2 } }, { text: "never" }], {
    tools: [waits],
  });
  const stream = execute(session, "x");
  await started.promise;
  await stream.abort("enough");
  expect(await stream.result()).toMatchObject({ status: "aborted", usage: { input: 10, output: 2 } });
  expect(provider.requests).toHaveLength(1);
});

it("B04: what a tool that crashes reports to the operator names its call, also beside another one", async () => {
  const logged: unknown[] = [];
  const crashes = defineTool({
    name: "crashes",
    description: "Crashes.",
    parameters: object,
    execute() {
      throw new Error("broken");
    },
  });
  const logger = { log: (...line: readonly unknown[]) => void logged.push(line) };
  const { session } = world([{ calls: [{ name: "look" }, { name: "crashes" }] }, { text: "ok" }], {
    tools: [look, crashes],
    session: { logger: logger as never },
  });
  const events = await eventsOf(execute(session, "x"));
  const failed = ofType(events, "tool_execution_end").find(({ outcome }) => outcome === "error");
  expect(failed).toMatchObject({ toolName: "crashes", callKey: expect.stringMatching(/\.1\.1$/) });
  expect(JSON.stringify(logged)).toContain("crashes");
});

it("B71: which tools were not enabled is known of each turn alone", async () => {
  const off = defineTool({ ...look, name: "off", enabled: () => false });
  const reasons: string[] = [];
  const { session } = world([{ calls: [{ name: "off" }] }, { calls: [{ name: "look" }] }, { text: "ok" }], {
    tools: [look, off],
    hooks: [{ name: "spy", decide: ({ reason }) => void reasons.push(reason) }],
  });
  await execute(session, "x").result();
  expect(reasons).toEqual(["tools_disabled", "calls", "no_calls"]);
});

it("B93: a hook sees the agent, its tools, its model, the conversation and the run, and what hooks before it have changed", async () => {
  const seen: unknown[] = [];
  const { session } = world([{ text: "ok" }], {
    tools: [look],
    hooks: [
      { name: "first", prepare: () => ({ tools: [], model: "other" }) },
      {
        name: "second",
        prepare({ agent, tools, model, messages, runId, turn }) {
          seen.push(agent, tools.length, model, messages.length, runId.length > 0, turn);
        },
      },
    ],
  });
  await execute(session, "x").result();
  expect(seen).toEqual(["tester", 0, "other", 1, true, 1]);
});

it("B109: a streamed result is kept in full for later runs", async () => {
  const streams = defineTool({
    name: "streams",
    description: "Streams.",
    parameters: object,
    async *execute() {
      for (let piece = 0; piece < 50; piece++) yield `piece ${piece} `;
    },
  });
  const { session, provider } = world([{ calls: [{ name: "streams" }] }, { text: "ok" }, { text: "again" }], { tools: [streams] });
  await execute(session, "x").result();
  await execute(session, "y").result();
  const later = JSON.stringify(provider.requests[2]?.messages);
  expect(later).toContain("piece 0 ");
  expect(later).toContain("piece 49 ");
});

/** Frameworks and SDKs that run agents by themselves. */
const frameworks =
  /^(?:ai$|@ai-sdk\/|langchain$|@langchain\/|@langgraph|llamaindex$|@llamaindex\/|@openai\/agents|@mastra\/|@google\/(?:adk|genkit)|genkit$|crewai|autogen|@voltagent\/|@inngest\/agent-kit|@anthropic-ai\/claude-(?:code|agent-sdk)|beeai-framework)/;

/** Packages whose tests speak to them through an unmodified client of another project. None of it is shipped. */
const testClients: { readonly [name: string]: readonly string[] } = {
  "@loopwright/protocol-ai-sdk": ["@ai-sdk/react", "ai"],
  loopwright: ["ai"],
};

interface Manifest {
  readonly name: string;
  readonly [field: string]: object | string | undefined;
}

it("B92: no package that is shipped depends on an agent framework, and no source imports one", () => {
  const root = new URL("../../../", import.meta.url);
  const folders = ["packages", "apps"].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root)).map((name) => new URL(`${folder}/${name}/`, root)),
  );
  const manifests = folders.flatMap((folder) => {
    const file = new URL("package.json", folder);
    return existsSync(file) ? [JSON.parse(readFileSync(file, "utf8")) as Manifest] : [];
  });
  const namedIn = (one: Manifest, fields: readonly string[]): readonly string[] =>
    fields.flatMap((field) => Object.keys((one[field] as object | undefined) ?? {}));
  const shipped = manifests.flatMap((one) => namedIn(one, ["dependencies", "peerDependencies", "optionalDependencies"]));
  expect(manifests.flatMap((one) => namedIn(one, ["devDependencies"]))).toContain("openai");
  expect(shipped.filter((name) => frameworks.test(name))).toEqual([]);
  for (const one of manifests) {
    const tested = namedIn(one, ["devDependencies"]).filter((name) => frameworks.test(name));
    expect(tested.toSorted(), one.name).toEqual(testClients[one.name] ?? []);
  }
  // A bundle could hold a development dependency.
  const imported = folders.flatMap((folder) => importsOf(new URL("src/", folder)));
  expect(imported).toContain("hono");
  expect(imported.filter((name) => frameworks.test(name))).toEqual([]);
  expect(["ai", "@ai-sdk/openai", "@langchain/core", "@openai/agents", "@mastra/core"].every((name) => frameworks.test(name))).toBe(true);
});

/** What the sources of a folder import, without their tests. */
function importsOf(folder: URL): readonly string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true }) as string[];
  return files
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .flatMap((name) => [...readFileSync(new URL(name, folder), "utf8").matchAll(/(?:from|import\()\s*"([^".][^"]*)"/g)])
    .map(([, name = ""]) => name);
}
