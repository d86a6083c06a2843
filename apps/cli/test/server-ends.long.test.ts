import { type AgentEvent, type AssistantMessage, type DurableEvent, textOf } from "@loopwright/core";
import { describe, expect, test } from "vitest";
import { emptyDirectory, run } from "./run-binary.ts";
import { type RunningServer, startServer } from "./run-server.ts";

const slow = { LOOPWRIGHT_OFFLINE_PACE: "5" };
/** So slow that the answer is under way whenever a client has found its way back. */
const slower = { LOOPWRIGHT_OFFLINE_PACE: "50" };

const isDurable = (event: AgentEvent): event is DurableEvent => "seq" in event;

/** The last message, as an answer. */
function lastAnswer(messages: readonly { readonly role: string }[]): AssistantMessage {
  const last = messages.at(-1);
  expect(last?.role).toBe("assistant");
  return last as AssistantMessage;
}

describe.concurrent("a server that ends", () => {
  test("C34: lets what runs end first within its patience, while it takes nothing new", async ({ onTestFinished: onEnd }) => {
    const cwd = await emptyDirectory();
    const server = await startServer({ onEnd, cwd, env: slow, flags: ["--shutdown-timeout", "50"] });
    const stream = server.client.execute("long answer", { context: {} });
    for await (const event of stream) if (event.type === "text_delta") break;
    server.child.kill("SIGTERM");
    await server.prints("1 run may end within 50 s.");
    const { code, stdout } = await server.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/Stopped\.\n$/);
    const shown = await run(["sessions", "show", stream.sessionId, "--json"], { cwd });
    const messages = shown.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as AssistantMessage);
    expect(lastAnswer(messages).stopReason).toBe("stop");
    expect(textOf(lastAnswer(messages))).toContain("The end");
  });

  test("ends at once when it is asked again", async ({ onTestFinished: onEnd }) => {
    const server = await startServer({ onEnd, cwd: await emptyDirectory(), env: slow, flags: ["--shutdown-timeout", "50"] });
    const stream = server.client.execute("long answer", { context: {} });
    for await (const event of stream) if (event.type === "text_delta") break;
    const insisting = setInterval(() => server.child.kill("SIGINT"), 50);
    const { code } = await server.ended;
    clearInterval(insisting);
    expect(code).toBe(130);
  });

  test("with kill -9 in the middle of an answer, twice, continues by itself at the next start: no gap, no double, on the same stream", async ({
    onTestFinished: onEnd,
  }) => {
    const cwd = await emptyDirectory();
    const server = await startServer({ onEnd, cwd, env: slower });
    const before = server.client.execute("what is 6 * 7?", { context: {} });
    await before.result();
    const stream = server.client.execute("long answer", { sessionId: before.sessionId });
    const events: AgentEvent[] = [];
    let attempt = 1;
    let killed = 0;
    let last: Promise<RunningServer> = Promise.resolve(server);
    const killAndRestart = async (running: RunningServer): Promise<RunningServer> => {
      running.child.kill("SIGKILL");
      await running.ended;
      return startServer({ onEnd, cwd, env: killed === 2 ? {} : slower, port: server.port });
    };
    for await (const event of stream) {
      events.push(event);
      if (event.type === "attempt_discarded") attempt += 1;
      if (event.type !== "text_delta" || killed === 2 || killed === attempt) continue;
      killed = attempt;
      last = last.then(killAndRestart);
    }
    const { status, messages } = await stream.result();
    expect(status).toBe("completed");
    const durable = events.filter(isDurable);
    const places = durable.map(({ seq, k }) => seq * 1_000 + k);
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
    const { client } = await last;
    const recorded = await client.sessions.events(stream.sessionId);
    const first = durable[0];
    expect(durable).toEqual(recorded.events.filter(({ seq }) => seq >= (first?.seq ?? 0)));
    const kept = (await client.sessions.get(stream.sessionId)).messages.map(({ message }) => message);
    expect(kept.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result", "assistant", "user", "assistant"]);
    expect(messages).toEqual(kept.slice(-2));
    expect(textOf(lastAnswer(kept))).toMatch(/^# A long answer[\s\S]*The end/);
    expect(durable.filter(({ type }) => type === "run_end")).toHaveLength(1);
    expect(durable.filter((event) => event.type === "attempt_discarded" && event.code === "CRASHED")).toHaveLength(2);
  });
});
