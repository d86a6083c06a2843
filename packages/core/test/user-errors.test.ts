import { describe, expect, it } from "vitest";
import {
  AgentError,
  createAgent,
  createCallGuard,
  defineTool,
  type ErrorCode,
  execute,
  type Hooks,
  type SessionOptions,
  type Tool,
} from "../src/index.ts";
import { type ScriptedTurn, scripted } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { Logger, ModelProvider } from "../src/ports/index.ts";
import { type AgentParts, calm, eventsOf, ofType, world } from "./harness.ts";

const words = "password hunter2 of the database";
const broken = (): never => {
  throw new TypeError(words, { cause: new RangeError("the cause of it") });
};

type Entry = { readonly message: string; readonly fields: { readonly [name: string]: unknown } };
function listeningLogger(): { readonly logger: Logger; readonly entries: Entry[] } {
  const entries: Entry[] = [];
  return { entries, logger: { log: (level, message, fields = {}) => void (level === "error" && entries.push({ message, fields })) } };
}

const tool = (more: Partial<Tool> = {}): Tool =>
  defineTool({ name: "act", description: "Acts.", parameters: { type: "object" }, execute: () => "done", ...more });
const calls: ScriptedTurn = { calls: [{ name: "act" }] };
const schema = {
  "~standard": { version: 1, vendor: "x", validate: broken, jsonSchema: { input: () => ({ type: "object" }) } },
} as const;
const provider = (more: Partial<ModelProvider>): ModelProvider => ({ ...scripted([{ text: "hi" }]), ...more });
const hooks = (one: Hooks): AgentParts => ({ hooks: [one], tools: [tool()] });
const later = async (): Promise<never> => {
  await Promise.resolve();
  return broken();
};

interface Place {
  readonly agent: AgentParts;
  /** What fails: the run, one call, or neither. */
  readonly fails: "run" | "call" | "nothing";
  readonly code?: ErrorCode;
  readonly prints: RegExp;
  readonly models: number;
  readonly script?: readonly ScriptedTurn[];
}

const text: readonly ScriptedTurn[] = [{ text: "hi there" }];
const places: { readonly [place: string]: Place } = {
  prepare: { agent: hooks({ name: "prepare", prepare: broken }), fails: "run", code: "HOOK_FAILED", prints: /hook `prepare`/, models: 0 },
  "prepare, later": {
    agent: hooks({ name: "prepare", prepare: later }),
    fails: "run",
    code: "HOOK_FAILED",
    prints: /hook `prepare`/,
    models: 0,
  },
  "a prompt": { agent: { prompt: broken }, fails: "run", code: "HOOK_FAILED", prints: /function `prompt`/, models: 0 },
  "filter over text": {
    agent: hooks({ name: "filter", filter: { apply: broken } }),
    fails: "run",
    code: "HOOK_FAILED",
    prints: /hook `filter`/,
    models: 1,
    script: text,
  },
  "filter that gives no text": {
    agent: hooks({ name: "filter", filter: { apply: () => broken as never } }),
    fails: "run",
    code: "HOOK_FAILED",
    prints: /hook `filter`/,
    models: 1,
    script: text,
  },
  "filter over a tool": {
    agent: hooks({ name: "filter", filter: { apply: (written, { kind }) => (kind === "tool" ? broken() : written) } }),
    fails: "call",
    code: "HOOK_FAILED",
    prints: /hook `filter`/,
    models: 2,
  },
  decide: {
    agent: hooks({ name: "decide", decide: broken }),
    fails: "run",
    code: "HOOK_FAILED",
    prints: /hook `decide`/,
    models: 1,
    script: text,
  },
  gate: { agent: hooks({ name: "gate", gate: broken }), fails: "call", code: "HOOK_FAILED", prints: /hook `gate`/, models: 2 },
  review: { agent: hooks({ name: "review", review: broken }), fails: "call", code: "HOOK_FAILED", prints: /hook `review`/, models: 2 },
  enabled: { agent: { tools: [tool({ enabled: broken })] }, fails: "call", code: "HOOK_FAILED", prints: /function `enabled`/, models: 2 },
  "a schema": {
    agent: { tools: [tool({ parameters: schema })] },
    fails: "call",
    code: "HOOK_FAILED",
    prints: /schema of the tool `act`/,
    models: 2,
  },
  "a tool": { agent: { tools: [tool({ execute: broken })] }, fails: "call", code: "TOOL_FAILED", prints: /tool `act`/, models: 2 },
  "a tool, later": { agent: { tools: [tool({ execute: later })] }, fails: "call", code: "TOOL_FAILED", prints: /tool `act`/, models: 2 },
  "a tool that streams": {
    agent: {
      tools: [
        tool({
          async *execute() {
            yield { type: "delta", delta: "some" };
            broken();
          },
        }),
      ],
    },
    fails: "call",
    code: "TOOL_FAILED",
    prints: /tool `act`/,
    models: 2,
  },
  "a tool's output": {
    agent: {
      tools: [
        tool({
          execute: () =>
            Object.defineProperty({ type: "complete", output: "x" }, "summary", { enumerable: true, get: broken }) as {
              type: "complete";
              output: "x";
            },
        }),
      ],
    },
    fails: "call",
    code: "TOOL_FAILED",
    prints: /tool `act`/,
    models: 2,
  },
  "a price table": {
    agent: { prices: { costOf: broken } },
    fails: "nothing",
    prints: /price table/,
    models: 1,
    script: [{ text: "hi", usage: { input: 1 } }],
  },
  "a provider": {
    agent: { provider: provider({ stream: broken }) },
    fails: "run",
    code: "INTERNAL",
    prints: /provider `scripted`/,
    models: 0,
  },
  "a provider's capabilities": {
    agent: { provider: provider({ capabilities: broken }) },
    fails: "run",
    code: "INTERNAL",
    prints: /model call/,
    models: 0,
  },
  "a provider that gives what is no batch": {
    agent: {
      provider: provider({
        async *stream() {
          yield { [Symbol.iterator]: broken } as never;
        },
      }),
    },
    fails: "run",
    code: "INTERNAL",
    prints: /provider `scripted`/,
    models: 0,
  },
};

describe("an error of user code in", () => {
  it.each(Object.keys(places))("%s is reported once to operators, typed, not retried, and never as another party's fault", async (name) => {
    const place = places[name] as Place;
    const { logger, entries } = listeningLogger();
    const made = world(place.script ?? [calls, { text: "ok" }], { tools: [tool()], ...place.agent, session: { logger } });
    const events = await eventsOf(execute(made.session, "go"));
    const result = ofType(events, "run_end")[0];
    expect(result?.status).toBe(place.fails === "run" ? "failed" : "completed");
    if (place.fails === "run") expect(ofType(events, "error")[0]).toMatchObject({ code: place.code });
    const ends = (await made.facts()).flatMap((fact) => (fact.type === "tool.finished" ? [fact] : []));
    if (place.fails === "call") expect(ends.map(({ failure }) => failure?.code)).toEqual([place.code]);
    expect(made.provider.requests).toHaveLength(place.models);
    expect((await made.types()).filter((type) => type === "wait.scheduled")).toEqual([]);
    const seen = JSON.stringify([events, await made.facts(), made.provider.requests]);
    expect(seen).not.toContain("hunter2");
    expect(entries).toHaveLength(1);
    expect(entries[0]?.message).toMatch(place.prints);
    expect(entries[0]?.fields["session"]).toBe("s1");
    if (name.includes("no text")) return;
    expect(entries[0]?.fields["error"]).toMatchObject({ name: "TypeError", message: words, cause: { name: "RangeError" } });
    expect(JSON.stringify(entries[0]?.fields["error"])).toContain("user-errors.test.ts");
  });

  const untouched = ["filter over text", "prepare", "decide", "a provider", "a provider's capabilities"];
  it.each(untouched)("%s never counts against the vendor", async (name) => {
    const clock = manualClock();
    const callGuard = createCallGuard({ clock });
    const session: Partial<SessionOptions> = { clock, callGuard };
    for (let i = 0; i < 6; i++) {
      const made = world(places[name]?.script ?? text, {
        limits: { attemptsMax: 1 },
        ...places[name]?.agent,
        session: { ...session, id: `b${i}` },
      });
      expect((await execute(made.session, "go").result()).status).toBe("error");
    }
    const healthy = world([{ text: "fine" }], { limits: { attemptsMax: 1 }, session });
    expect((await execute(healthy.session, "go").result()).text).toBe("fine");
  });

  const hang = (): Promise<never> => new Promise<never>(() => {});
  const failing: { readonly [when: string]: Tool } = {
    "a tool that hangs is given up": tool({ execute: hang, timeoutMs: 1_000 }),
    "a tool has failed in words of its own": tool({
      execute: () => {
        throw new AgentError("FILE_NOT_FOUND", { message: "There is no such file." });
      },
    }),
    "a tool throws after it has completed": tool({
      async *execute() {
        yield { type: "complete", output: "done" } as const;
        throw new AgentError("FILE_NOT_FOUND", { message: "There is no such file." });
      },
    }),
    "a completed tool is given up": tool({
      timeoutMs: 1_000,
      async *execute() {
        yield { type: "complete", output: "done" } as const;
        await hang();
      },
    }),
    "a tool tells of a step from a callback": tool({
      execute(_, { progress }) {
        queueMicrotask(() => progress("Opens."));
        return hang();
      },
    }),
  };
  it.each(Object.keys(failing))("the filter ends the call, not the process, when %s", async (when) => {
    const { logger, entries } = listeningLogger();
    const filter: Hooks["filter"] = { apply: (written, { kind }) => (kind === "tool" || kind === "progress" ? broken() : written) };
    const made = world([calls, { text: "ok" }], {
      tools: [failing[when] as Tool],
      hooks: [{ name: "filter", filter }],
      session: { logger },
    });
    const result = execute(made.session, "go").result();
    await calm();
    await made.clock.advance(1_000);
    expect((await result).status).toBe("completed");
    const ends = (await made.facts()).flatMap((fact) => (fact.type === "tool.finished" ? [fact] : []));
    expect(ends).toMatchObject([{ outcome: "error", failure: { code: "HOOK_FAILED" } }]);
    expect(entries.filter(({ message }) => message.includes("`filter`"))).toHaveLength(1);
  });

  it("a lookup leaves the call interrupted", async () => {
    const { logger, entries } = listeningLogger();
    const slow = tool({ execute: () => new Promise<never>(() => {}), lookup: broken as never });
    const made = world([calls, { text: "ok" }], { tools: [slow], session: { logger } });
    execute(made.session, "go")
      .result()
      .catch(() => {});
    await calm();
    await made.session[Symbol.asyncDispose]();
    await calm();
    const next = made.again();
    await execute(next, "and?").result();
    const [end] = (await made.facts()).flatMap((fact) => (fact.type === "tool.finished" ? [fact] : []));
    expect(end).toMatchObject({ outcome: "interrupted", failure: { code: "HOOK_FAILED" } });
    expect(entries.filter(({ message }) => message.includes("`lookup`"))).toHaveLength(1);
    expect(JSON.stringify(await made.facts())).not.toContain("hunter2");
  });

  it.each(["at once", "later"])("a listener is reported to operators and stops nothing, %s", async (when) => {
    const { logger, entries } = listeningLogger();
    const made = world(text, { session: { logger } });
    let received = 0;
    made.session.subscribe(() => {
      if (received++ > 0) return;
      return (when === "later" ? later() : broken()) as never;
    });
    expect((await execute(made.session, "go").result()).text).toBe("hi there");
    expect(entries.map(({ message }) => message)).toEqual(["A listener of the session threw an error."]);
    expect(entries[0]?.fields["error"]).toMatchObject({ message: words });
  });

  it.each(["random", "next"] as const)("the id source (%s) is a bug, not a store that is away", async (method) => {
    const { logger, entries } = listeningLogger();
    let isBroken = false;
    const ids = {
      next: () => (isBroken && method === "next" ? broken() : `id${seed++}`),
      random: () => (method === "random" ? broken() : 0.5),
    };
    let seed = 0;
    const made = world([{ error: "MODEL_OVERLOADED" }, { text: "ok" }], { session: { logger, ids } });
    const session = method === "random" ? made.session : await made.session.ready();
    const running = execute(session, "go").result();
    isBroken = true;
    await expect(running).rejects.toMatchObject({ code: "INTERNAL" });
    expect(entries.length).toBe(1);
    expect(entries[0]?.fields["error"]).toMatchObject({ message: words });
  });
});

describe("an AgentError of user code", () => {
  it("of a tool keeps its words for the model, and is not reported", async () => {
    const { AgentError } = await import("../src/index.ts");
    const { logger, entries } = listeningLogger();
    const prints = tool({
      execute: () => {
        throw new AgentError("FILE_NOT_FOUND", { message: "There is no such page." });
      },
    });
    const made = world([calls, { text: "ok" }], { tools: [prints], session: { logger } });
    await execute(made.session, "go").result();
    expect(JSON.stringify(made.provider.requests[1]?.messages.at(-1))).toContain("FILE_NOT_FOUND: There is no such page.");
    expect(entries).toEqual([]);
  });

  it("of a hook that would blame the vendor is HOOK_FAILED, and is not retried", async () => {
    const { AgentError } = await import("../src/index.ts");
    const hook: Hooks = {
      name: "prepare",
      prepare: () => {
        throw new AgentError("MODEL_OVERLOADED", { message: "My own model is busy." });
      },
    };
    const made = world(text, { hooks: [hook] });
    const { error } = await execute(made.session, "go").result();
    expect(error).toMatchObject({ code: "HOOK_FAILED", message: "My own model is busy.", retryable: false });
    expect(createAgent({ ...made.agent }).hooks).toHaveLength(1);
  });
});
