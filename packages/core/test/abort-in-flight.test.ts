import { describe, expect, it } from "vitest";
import { type AgentSession, defineTool, type ExecuteStream, execute, type FactType } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { calm, deferred, type World, world } from "./harness.ts";

interface HeldStore {
  readonly store: SessionStore;
  /** The store has the batch and has not answered. */
  readonly isWritten: Promise<void>;
  answer(): void;
}

/** A store that keeps back its answer to the first batch that holds a fact of this type. */
function holding(type: FactType): HeldStore {
  const real = memoryStore({ clock: manualClock() });
  const [written, answered] = [deferred(), deferred()];
  let isHeld = false;
  const append: SessionStore["log"]["append"] = async (ref, request) => {
    const outcome = await real.log.append(ref, request);
    if (isHeld || !request.facts.some((fact) => fact.type === type)) return outcome;
    isHeld = true;
    written.resolve();
    await answered.promise;
    return outcome;
  };
  const log = Object.assign(Object.create(real.log) as SessionStore["log"], { append });
  return { store: { ...real, log }, isWritten: written.promise, answer: answered.resolve };
}

interface Stopping {
  readonly session: AgentSession;
  readonly stream: ExecuteStream;
  readonly controller: AbortController;
  readonly again: World["again"];
}

const waysToStop: Readonly<Record<string, (stopping: Stopping) => unknown>> = {
  "by its stream": ({ stream }) => stream.abort(),
  "by its session": ({ session }) => session.abort(),
  "by a signal": ({ controller }) => controller.abort(),
  "by another handle": async ({ again }) => again({ drives: false }).abort(),
};

describe("an abort that arrives while the start of a model call is being written", () => {
  it.each(Object.entries(waysToStop))("%s sends no request", async (_, stop) => {
    const { store, isWritten, answer } = holding("model.started");
    const { session, provider, types, again } = world([{ text: "never" }], { session: { store } });
    const controller = new AbortController();
    const stream = execute(session, "go", { signal: controller.signal });
    await isWritten;
    void stop({ session, stream, controller, again });
    await calm();
    answer();
    expect(await stream.result()).toMatchObject({ status: "aborted", text: "", error: { code: "RUN_ABORTED" } });
    expect(provider.requests).toHaveLength(0);
    expect((await types()).slice(-4)).toEqual(["model.started", "abort.requested", "model.finished", "run.finished"]);
    expect(session.snapshot().status).toBe("idle");
  });

  it("leaves a session that can be continued", async () => {
    const { store, isWritten, answer } = holding("model.started");
    const { session, provider } = world([{ text: "Here I am." }], { session: { store } });
    const stream = execute(session, "go");
    await isWritten;
    void stream.abort();
    answer();
    await stream.result();
    expect(await execute(session, "again").result()).toMatchObject({ status: "completed", text: "Here I am." });
    expect(provider.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "user"]);
  });

  it("with an input that interrupts has the model asked for that input alone", async () => {
    const { store, isWritten, answer } = holding("model.started");
    const { session, provider } = world([{ text: "At once." }], { session: { store } });
    const first = execute(session, "first");
    await isWritten;
    const urgent = execute(session, "urgent", { mode: "interrupt" });
    answer();
    expect([(await first.result()).status, (await urgent.result()).text]).toEqual(["aborted", "At once."]);
    expect(provider.requests).toHaveLength(1);
  });

  it("with a submitted input that interrupts does so too", async () => {
    const { store, isWritten, answer } = holding("model.started");
    const { session, provider } = world([{ text: "At once." }], { session: { store } });
    const first = execute(session, "first");
    await isWritten;
    void session.submit("urgent", { mode: "interrupt" });
    answer();
    await first.result();
    await calm();
    expect(provider.requests).toHaveLength(1);
  });

  it("with the end of the session sends no request", async () => {
    const { store, isWritten, answer } = holding("model.started");
    const { session, provider } = world([{ text: "never" }], { session: { store } });
    const stream = execute(session, "go");
    await isWritten;
    const ended = session.end();
    answer();
    await ended;
    await stream.result();
    expect(provider.requests).toHaveLength(0);
  });

  it("of another run stops nothing", async () => {
    const { store, isWritten, answer } = holding("model.started");
    const { session, provider } = world([{ text: "One." }, { text: "Two." }], { session: { store } });
    const first = execute(session, "first");
    await isWritten;
    const second = execute(session, "second");
    await calm();
    void second.abort();
    answer();
    expect(await first.result()).toMatchObject({ status: "completed", text: "One." });
    expect((await second.result()).status).toBe("aborted");
    expect(provider.requests).toHaveLength(1);
  });
});

describe("an abort that arrives while the start of a tool is being written", () => {
  it.each(Object.entries(waysToStop))("%s does not run it", async (_, stop) => {
    let isRun = false;
    const act = (): string => {
      isRun = true;
      return "done";
    };
    const tools = [defineTool({ name: "act", description: "Acts.", parameters: { type: "object" }, execute: act })];
    const { store, isWritten, answer } = holding("tool.started");
    const { session, provider, facts, again } = world([{ calls: [{ name: "act" }] }, { text: "never" }], { tools, session: { store } });
    const controller = new AbortController();
    const stream = execute(session, "go", { signal: controller.signal });
    await isWritten;
    void stop({ session, stream, controller, again });
    await calm();
    answer();
    expect((await stream.result()).status).toBe("aborted");
    expect([isRun, provider.requests.length]).toEqual([false, 1]);
    const finished = (await facts()).find(({ type }) => type === "tool.finished");
    expect(finished).toMatchObject({ outcome: "aborted", failure: { code: "RUN_ABORTED" } });
  });
});
