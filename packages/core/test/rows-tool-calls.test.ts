import { describe, expect, it } from "vitest";
import { defineTool, type FactOf, type ReplayClass, type Tool } from "../src/index.ts";
import type { ScriptedTurn } from "../src/memory/index.ts";
import type { ModelRequest } from "../src/ports/index.ts";
import { type Client, type Process, type Processes, processes } from "./dying-processes.ts";
import { calm } from "./harness.ts";

/*
 * Rows 12 to 17 of docs/recovery.md: a process dies while its tools run. Every tool writes its starts down, as a witness would.
 */
const parameters = { type: "object" } as const;
const never = new Promise<never>(() => {});

interface Scene extends Processes {
  /** `<tool> <callKey> <attempt> <idempotencyKey>` of each start. */
  readonly starts: readonly string[];
  readonly asked: readonly string[];
}

interface ToolPlan {
  readonly replay: ReplayClass;
  /** True: its first attempt of the first process never ends. */
  readonly hangs?: boolean;
  /** True: nor does any other. */
  readonly hangsAlways?: boolean;
  /** What becomes of a call as another system knows it; absent: there is none to ask. */
  readonly known?: string | null;
}

/** A session whose model calls these tools once, then again those that it reads were interrupted, as new calls, and then reports it. */
async function scene(plans: { readonly [name: string]: ToolPlan }): Promise<Scene> {
  const starts: string[] = [];
  const asked: string[] = [];
  const runs = new Map<string, number>();
  const toolOf = ([name, { replay, hangs = false, hangsAlways = false, known }]: [string, ToolPlan]): Tool =>
    defineTool({
      name,
      description: `Is ${name}.`,
      parameters,
      replay,
      execute(_, { callKey, attempt, idempotencyKey }) {
        starts.push(`${name} ${callKey} ${attempt} ${idempotencyKey}`);
        runs.set(name, (runs.get(name) ?? 0) + 1);
        return hangs && (hangsAlways || runs.get(name) === 1) ? never : `${name} done`;
      },
      ...(known === undefined
        ? {}
        : {
            lookup: async (key: string) => {
              asked.push(key);
              return known ?? undefined;
            },
          }),
    });
  const answer = ({ messages }: ModelRequest): ScriptedTurn => {
    const results = messages.filter((message) => message.role === "tool_result");
    if (results.length === 0) return { calls: Object.keys(plans).map((name) => ({ name })) };
    const isNew = messages.at(-1)?.role === "tool_result" && results.length === Object.keys(plans).length;
    const again = isNew ? results.filter(({ outcome }) => outcome === "interrupted") : [];
    return again.length > 0 ? { text: "Once more.", calls: again.map(({ toolName = "" }) => ({ name: toolName })) } : { text: "Done." };
  };
  const made = processes(answer as never, { tools: Object.entries(plans).map(toolOf) });
  await made.again({ drives: false }).submit("go");
  return { ...made, starts, asked };
}

/** The client and the process that dies with what it is doing, and the next one. */
async function dieAndContinue(made: Scene, dying: Process): Promise<Client> {
  const client = made.client();
  await client.connect(dying.session);
  await calm();
  if (!dying.store.isDead) dying.store.kill();
  made.outlive();
  const next = made.boot().session;
  await client.connect(next);
  expect((await made.finish(next)).text).toBe("Done.");
  expect(next.isResting).toBe(true);
  expect(client.events.filter((event) => "k" in event)).toEqual(await made.history());
  return client;
}

/** Results as the client received them, and as the log has them: `<call> <outcome>`. */
async function resultsOf(made: Scene, { events }: Client): Promise<readonly string[]> {
  const nameOf = (callKey: string): string => callKey.split(".").slice(1).join(".");
  const published = events.flatMap((event) => (event.type === "tool_execution_end" ? [`${nameOf(event.callKey)} ${event.outcome}`] : []));
  const logged = (await made.factsOf("tool.finished")).map(({ callKey, outcome }) => `${nameOf(callKey)} ${outcome}`);
  expect(published).toEqual(logged);
  return published;
}

const startedOf = async (made: Scene, call: string): Promise<readonly FactOf<"tool.started">[]> =>
  (await made.factsOf("tool.started")).filter(({ callKey }) => callKey.endsWith(call));

describe("the recovery table: a tool call", () => {
  it("row 12: a `once` tool that was about to start is never started: it ends as interrupted, and may be called anew", async () => {
    const made = await scene({ pay: { replay: "once" } });
    const dying = made.boot({ at: 2, when: "after" });
    const client = await dieAndContinue(made, dying);
    expect(dying.store.batches[1]?.facts.map(({ type }) => type)).toEqual(["model.finished", "tool.started"]);
    expect(await resultsOf(made, client)).toEqual(["1.0 interrupted", "2.0 ok"]);
    const [interrupted] = await made.factsOf("tool.finished");
    expect(interrupted?.output).toMatchObject([{ text: expect.stringContaining("Do not assume it failed") }]);
    expect(made.starts).toEqual([expect.stringMatching(/^pay \S+\.2\.0 1 /)]);
  });

  it("row 13: a `once` tool that was running ends as interrupted, and is not started again", async () => {
    const made = await scene({ pay: { replay: "once", hangs: true } });
    const client = await dieAndContinue(made, made.boot());
    expect(await resultsOf(made, client)).toEqual(["1.0 interrupted", "2.0 ok"]);
    expect(made.starts.map((start) => start.split(" ")[1]?.replace(/^\w+\./, ""))).toEqual(["1.0", "2.0"]);
    const published = JSON.stringify(made.provider.requests[1]?.messages);
    expect(published).toContain("Do not assume it failed");
  });

  it.each([
    ["knows", "paid", "1.0 ok"],
    ["does not know", null, "1.0 interrupted"],
  ] as const)("row 13: a `once` tool that can be asked what became of a call is asked first, and %s it", async (_, known, result) => {
    const made = await scene({ pay: { replay: "once", hangs: true, known } });
    const client = await dieAndContinue(made, made.boot());
    const [started] = await startedOf(made, ".1.0");
    expect(made.asked).toEqual([started?.idempotencyKey]);
    expect((await resultsOf(made, client))[0]).toBe(result);
    expect((await made.factsOf("tool.finished"))[0]?.output).toMatchObject([{ text: known ?? expect.stringContaining("Do not assume") }]);
    expect(made.starts.filter((start) => start.includes(".1.0 "))).toHaveLength(1);
  });

  it("row 14: an `idempotent` tool that was running runs again under the same key as the next attempt, with one result", async () => {
    const made = await scene({ save: { replay: "idempotent", hangs: true } });
    const client = await dieAndContinue(made, made.boot());
    const started = await startedOf(made, ".1.0");
    expect(started.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(started.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(made.starts).toEqual(started.map(({ callKey, attempt, idempotencyKey }) => `save ${callKey} ${attempt} ${idempotencyKey}`));
    expect(await resultsOf(made, client)).toEqual(["1.0 ok"]);
  });

  it("row 14: an `idempotent` tool whose process dies each time ends as interrupted after three attempts, not as done", async () => {
    const made = await scene({ save: { replay: "idempotent", hangs: true, hangsAlways: true } });
    for (let death = 1; death <= 3; death++) {
      const { session, store } = made.boot();
      const leave = session.follow({ events: () => {} });
      await calm();
      store.kill();
      leave();
      made.outlive();
    }
    const { session } = made.boot();
    const client = made.client();
    await client.connect(session);
    await calm();
    expect((await startedOf(made, ".1.0")).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(made.starts.filter((start) => start.includes(".1.0 "))).toHaveLength(3);
    expect(await resultsOf(made, client)).toEqual(["1.0 interrupted"]);
  });

  it("row 15: a `pure` tool that was running runs again, with one result", async () => {
    const made = await scene({ look: { replay: "pure", hangs: true } });
    const client = await dieAndContinue(made, made.boot());
    expect((await startedOf(made, ".1.0")).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(made.starts).toHaveLength(2);
    expect(await resultsOf(made, client)).toEqual(["1.0 ok"]);
  });

  it.each([
    ["`once`", { replay: "once" }, ["1.0 interrupted", "2.0 ok"], 1],
    ["`once`, and can be asked", { replay: "once", known: "paid" }, ["1.0 ok"], 1],
    ["`idempotent`", { replay: "idempotent" }, ["1.0 ok"], 2],
    ["`pure`", { replay: "pure" }, ["1.0 ok"], 2],
  ] as const)(
    "row 16: a tool (%s) that returned before its result was recorded is handled by its class",
    async (_, plan, results, runs) => {
      const made = await scene({ act: plan });
      const dying = made.boot({ at: 3, when: "before" });
      const client = await dieAndContinue(made, dying);
      expect(dying.store.batches[2]?.facts.map(({ type }) => type)).toContain("tool.finished");
      expect(await resultsOf(made, client)).toEqual(results);
      expect(made.starts.filter((start) => start.includes(".1.0 "))).toHaveLength(runs);
    },
  );

  it.each([
    ["once", "interrupted", 1],
    ["idempotent", "ok", 2],
    ["pure", "ok", 2],
  ] as const)(
    "row 17: of three calls at once only the one without a result (`%s`) is handled: it ends as %s",
    async (replay, outcome, runs) => {
      const made = await scene({ first: { replay: "once" }, second: { replay: "idempotent" }, third: { replay, hangs: true } });
      const dying = made.boot();
      const client = made.client();
      await client.connect(dying.session);
      await calm();
      expect((await made.factsOf("tool.finished")).map(({ callKey, outcome }) => `${callKey.slice(-3)} ${outcome}`)).toEqual([
        "1.0 ok",
        "1.1 ok",
      ]);
      const published = await dieAndContinue(made, dying);
      expect((await resultsOf(made, published)).slice(0, 3)).toEqual(["1.0 ok", "1.1 ok", `1.2 ${outcome}`]);
      const startsOf = (call: string): number => made.starts.filter((start) => start.includes(`.${call} `)).length;
      expect([startsOf("1.0"), startsOf("1.1"), startsOf("1.2")]).toEqual([1, 1, runs]);
    },
  );
});
