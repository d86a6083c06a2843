import { describe, expect, it } from "vitest";
import { createSimpleTool, defineTool, execute, type Tool } from "../src/index.ts";
import { eventsOf, ofType, world } from "./harness.ts";

interface Row {
  readonly name: string;
  readonly when: Date;
  readonly note?: string | undefined;
}

const row: Row = { name: "Ada", when: new Date(0) };
const base = { name: "act", description: "Acts.", parameters: { type: "object" } } as const;

/** Each compiles: a tool may return what it has. */
const tools: { readonly [what: string]: readonly [Tool, unknown] } = {
  "an interface": [
    defineTool({ ...base, execute: (): Row => row }),
    { type: "json", value: { name: "Ada", when: "1970-01-01T00:00:00.000Z" } },
  ],
  "a date": [defineTool({ ...base, execute: (): Date => new Date(0) }), { type: "json", value: "1970-01-01T00:00:00.000Z" }],
  "text or nothing": [defineTool({ ...base, execute: (): string | undefined => undefined }), { type: "text", text: "(no output)" }],
  "a promise of a list": [defineTool({ ...base, execute: async (): Promise<readonly Row[]> => [] }), { type: "json", value: [] }],
  nothing: [defineTool({ ...base, execute: (): void => {} }), { type: "text", text: "(no output)" }],
  "details of any kind": [createSimpleTool(base, () => ({ output: "fine", details: row })), { type: "text", text: "fine" }],
};

const endOf = async (tool: Tool, log: (line: string) => void = () => {}) => {
  const made = world([{ calls: [{ name: "act" }] }, { text: "ok" }], {
    tools: [tool],
    session: { logger: { log: (_, line) => log(line) } },
  });
  const events = await eventsOf(execute(made.session, "go"));
  return { made, deltas: ofType(events, "tool_execution_delta").map(({ delta }) => delta), end: ofType(events, "tool_execution_end")[0] };
};

describe("a tool may return", () => {
  it.each(Object.keys(tools))("%s", async (what) => {
    const [tool, part] = tools[what] as readonly [Tool, unknown];
    expect((await endOf(tool)).end).toMatchObject({ outcome: "ok", output: [part] });
  });

  it("a value that is not JSON, and names the place", async () => {
    const { end } = await endOf(defineTool({ ...base, execute: () => ({ rows: [{ tags: new Map() }] }) }));
    expect(JSON.stringify(end?.output)).toContain("it holds a Map at `rows[0].tags`");
    const lines: string[] = [];
    const { end: kept } = await endOf(
      createSimpleTool(base, () => ({ output: "fine", details: { seen: new Set() } })),
      (line) => lines.push(line),
    );
    expect(kept).toMatchObject({ outcome: "ok" });
    expect(lines).toEqual(["Tool `act`: its details were dropped: they hold a Set at `details.seen`."]);
  });
});

describe("a tool that streams", () => {
  it("B09: forwards what it yields as `stream`, and its return value is the result", async () => {
    const { end, deltas } = await endOf(
      defineTool({
        ...base,
        async *execute() {
          yield { stream: "one " };
          yield { stream: "two" };
          return { sum: 2 };
        },
      }),
    );
    expect(deltas).toEqual(["one ", "two"]);
    expect(end).toMatchObject({ outcome: "ok", output: [{ type: "json", value: { sum: 2 } }] });
  });

  it("B09: succeeds without a return value", async () => {
    const { end } = await endOf(
      defineTool({
        ...base,
        *execute() {
          yield { stream: "all there is" };
        },
      }),
    );
    expect(end).toMatchObject({ outcome: "ok", output: [{ type: "text", text: "all there is" }] });
  });
});

describe("the details of a result", () => {
  it("D32: are for the application alone: the event has them, the request does not", async () => {
    const { made, end } = await endOf(createSimpleTool(base, () => ({ output: "for the model", details: { rows: ["for the page"] } })));
    expect(end?.details).toEqual({ rows: ["for the page"] });
    const sent = JSON.stringify(
      made.provider.requests[1]?.messages.map((message) => (message.role === "tool_result" ? message.content : "")),
    );
    expect(sent).toContain("for the model");
    expect(sent).not.toContain("for the page");
  });
});
