import { AgentError, type ExecuteStream, type PendingToolCall, type Tool, type ToolResultMessage } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import type { LoopwrightClient } from "../src/index.ts";
import {
  type ClientToolsOptions,
  clientTools,
  platformLocks,
  type RunningCall,
  type ToolNotes,
  type ToolRuntime,
} from "../src/tools/index.ts";

const pending = (index = 0, more: Partial<PendingToolCall> = {}): PendingToolCall => ({
  ...{ toolCallId: `c${index}`, callKey: `r.1.${index}`, toolName: "set_field", args: { field: "name" } },
  ...more,
});

/** What all tabs of a browser share. */
interface Browser {
  readonly notes: ToolNotes & { readonly kept: Map<string, string> };
  readonly locks: NonNullable<ClientToolsOptions["locks"]>;
  readonly ran: string[];
  readonly sent: { readonly result: ToolResultMessage; readonly key: string | undefined }[];
}

function browser(): Browser {
  const kept = new Map<string, string>();
  const notes = {
    kept,
    get: (name: string) => kept.get(name),
    set: (name: string, text: string) => void kept.set(name, text),
    remove: (name: string) => void kept.delete(name),
  };
  // Each browser has locks of its own names.
  const own = Math.random().toString(36);
  return { notes, locks: (name, act, signal) => platformLocks(own + name, act, signal), ran: [], sent: [] };
}

interface Tab {
  readonly runtime: ToolRuntime;
  readonly states: string[];
  readonly errors: string[];
}

interface TabOptions extends Partial<Omit<ClientToolsOptions, "tools">> {
  readonly tool?: Partial<Tool>;
  readonly send?: (attempt: number) => void;
}

function tab({ notes, locks, ran, sent }: Browser, { tool = {}, send = () => {}, ...options }: TabOptions = {}): Tab {
  const states: string[] = [];
  const errors: string[] = [];
  let attempts = 0;
  const setField = {
    name: "set_field",
    description: "Sets a field.",
    parameters: { type: "object" },
    execute: (_: unknown, { callKey }: { readonly callKey: string }) => `ran ${ran.push(callKey)}`,
    ...tool,
  } as Tool;
  const sessions: Pick<LoopwrightClient["sessions"], "sendResults"> = {
    async sendResults(sessionId, [result], { idempotencyKey } = {}) {
      attempts++;
      send(attempts);
      if (result) sent.push({ result, key: idempotencyKey });
      return { sessionId, runId: "r", seq: 1, replayed: false, stream: () => ({}) as ExecuteStream };
    },
  };
  const runtime = clientTools(
    { sessions },
    {
      ...{ sessionId: "s", tools: [setField], notes, locks, random: () => 0 },
      clock: { now: () => 0, after: nextTurn },
      onChange: (calls: readonly RunningCall[]) => void states.push(calls.map(({ state }) => state).join()),
      onError: ({ code }) => void errors.push(code),
      ...options,
    },
  );
  return { runtime, states, errors };
}

/** A timer that is over at once. */
function nextTurn(_: number, run: () => void): () => void {
  queueMicrotask(run);
  return () => {};
}

/** Lets everything that is ready run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("tools that run in a page", () => {
  it("A26: a call that waits is run once and answered under one key, and calls of other tools are left alone", async () => {
    const here = browser();
    const { runtime, states } = tab(here);
    runtime.offer([pending(), pending(1, { toolName: "other" })], 0);
    runtime.offer([pending(), pending(1, { toolName: "other" })], 0);
    await settle();
    runtime.offer([pending()], 0);
    await settle();
    expect(here.ran).toEqual(["r.1.0"]);
    expect(here.sent).toEqual([
      { key: "call-r.1.0", result: expect.objectContaining({ callKey: "r.1.0", content: "ran 1", outcome: "ok" }) },
    ]);
    runtime.offer([], 1);
    expect([states, here.notes.kept.size]).toEqual([["waiting", "running", "sending", ""], 0]);
  });

  it("two tabs do not both run a call: the second waits, and finds it answered", async () => {
    const here = browser();
    const gate = Promise.withResolvers<string>();
    const [one, two] = [tab(here, { tool: { execute: () => gate.promise.then((text) => here.ran.push(text)) } }), tab(here)];
    one.runtime.offer([pending()], 0);
    two.runtime.offer([pending()], 0);
    await settle();
    expect(two.states).toEqual(["waiting"]);
    gate.resolve("first");
    await settle();
    await settle();
    expect([here.ran, here.sent.length, two.states.at(-1)]).toEqual([["first"], 1, ""]);
    for (const { runtime } of [one, two]) runtime.offer([], 1);
    expect(here.notes.kept.size).toBe(0);
  });

  it("a tab that goes leaves its calls to another one: a tool that may run twice runs again, any other is answered as interrupted", async () => {
    for (const [replay, content] of [
      ["idempotent", /^ran 1$/],
      ["once", /^TOOL_INTERRUPTED: .* its outcome is unknown/],
    ] as const) {
      const here = browser();
      const stuck = tab(here, { tool: { replay, execute: () => new Promise(() => {}) } });
      stuck.runtime.offer([pending()], 0);
      await settle();
      stuck.runtime.close();
      const next = tab(here, { tool: { replay } });
      next.runtime.offer([pending()], 0);
      await settle();
      expect([replay, here.sent.length, here.sent[0]?.result.content]).toEqual([replay, 1, expect.stringMatching(content)]);
    }
  });

  it("an answer that could not be sent is sent again under its key, and after a reload without another run", async () => {
    const here = browser();
    const first = tab(here, {
      send: () => {
        throw new AgentError("SERVER_UNREACHABLE", { message: "gone" });
      },
      clock: { now: () => 0, after: () => () => {} },
    });
    first.runtime.offer([pending()], 0);
    await settle();
    expect([first.errors, here.sent]).toEqual([["SERVER_UNREACHABLE"], []]);
    first.runtime.close();
    await settle();
    const second = tab(here, {
      send: (attempt) => {
        if (attempt === 1) throw new AgentError("STORE_UNAVAILABLE", { message: "busy" });
      },
    });
    second.runtime.offer([pending()], 0);
    await settle();
    await settle();
    expect([here.ran, here.sent.map(({ key }) => key), second.errors]).toEqual([["r.1.0"], ["call-r.1.0"], ["STORE_UNAVAILABLE"]]);
  });

  it("an answer that came second, or too late, is no error", async () => {
    for (const code of ["CALL_ANSWERED", "CALL_UNKNOWN", "KEY_REUSED"] as const) {
      const here = browser();
      const late = tab(here, {
        send: () => {
          throw new AgentError(code, { message: "too late" });
        },
      });
      late.runtime.offer([pending()], 0);
      await settle();
      late.runtime.offer([pending()], 0);
      await settle();
      late.runtime.offer([], 0);
      expect([late.errors, here.ran, here.notes.kept.size]).toEqual([[], ["r.1.0"], 0]);
    }
  });

  it("a call that the page denies, or whose authoriser fails, is not run and answered as TOOL_DENIED", async () => {
    const verdicts: readonly ClientToolsOptions["authorise"][] = [
      () => ({ deny: "Not in this form." }),
      () => Promise.reject(new Error("offline")),
      () => undefined as never,
    ];
    for (const authorise of verdicts) {
      const here = browser();
      tab(here, authorise ? { authorise } : {}).runtime.offer([pending()], 0);
      await settle();
      expect(here.ran).toEqual([]);
      expect(here.sent[0]?.result).toMatchObject({
        isError: true,
        content: expect.stringMatching(/^TOOL_DENIED: /),
        details: { code: "TOOL_DENIED", reason: expect.any(String) },
      });
    }
  });

  it("a call that is no longer wanted is given up, and one beyond its deadline answered as stopped", async () => {
    const here = browser();
    const gone = Promise.withResolvers<void>();
    const waiting = tab(here, {
      tool: {
        execute: (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
          new Promise(() => signal.addEventListener("abort", () => gone.resolve())),
      },
      clock: { now: () => 0, after: () => () => {} },
    });
    waiting.runtime.offer([pending()], 0);
    await settle();
    waiting.runtime.offer([], 0);
    await gone.promise;
    await settle();
    expect([here.sent, here.notes.kept.size]).toEqual([[], 0]);
    const slow = tab(here, { tool: { execute: () => new Promise(() => {}) } });
    slow.runtime.offer([pending(7, { deadline: 5_000 })], 4_000);
    await settle();
    expect(here.sent[0]?.result).toMatchObject({ callKey: "r.1.7", isError: true, content: expect.stringContaining("TOOL_FAILED") });
  });
});
