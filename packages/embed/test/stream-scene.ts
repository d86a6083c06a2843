import { type Agent, AgentError, createAgent, type ModelChunk, type Tool } from "@loopwright/core";
import { memoryStore, silentLogger } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { type AgentServer, createServer } from "@loopwright/server";
import { expect } from "vitest";
import { notificationsDialect } from "../src/index.ts";

type Step = readonly ModelChunk[] | "fail";

/** An agent whose model emits what the test gives it, when the test gives it. */
export interface LedAgent {
  readonly agent: Agent;
  say(...chunks: readonly ModelChunk[]): void;
  fail(): void;
}

export const text = (delta: string): ModelChunk => ({ type: "text", index: 0, delta });
export const end: ModelChunk = { type: "end", stopReason: "stop", raw: "stop" };
export const call = (name: string): readonly ModelChunk[] => [
  { type: "call-start", index: 1, id: "call_1", name },
  { type: "call-args", index: 1, delta: "{}" },
  { type: "call-end", index: 1 },
  { type: "end", stopReason: "tool_calls", raw: "tool_calls" },
];

export function ledAgent(name: string, tools: readonly Tool[] = []): LedAgent {
  const steps: Step[] = [];
  let wake = (): void => {};
  const give = (step: Step): void => {
    steps.push(step);
    wake();
  };
  const agent = createAgent({
    name,
    tools,
    provider: {
      name: "led",
      defaultModel: "led-1",
      capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
      async *stream() {
        for (;;) {
          const step = steps.shift();
          if (step === "fail") throw new AgentError("MODEL_REFUSED", { message: "The model was told to fail." });
          if (step) yield step;
          if (step?.some(({ type }) => type === "end")) return;
          if (steps.length === 0)
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      },
    },
  });
  return { agent, say: (...chunks) => give(chunks), fail: () => give("fail") };
}

export interface Frame {
  readonly event: string;
  readonly data: { readonly [field: string]: unknown };
}

export interface StreamScene {
  readonly server: AgentServer;
  send(session: string, input: string): Promise<{ readonly runId: string }>;
  /** Reads the stream of notifications in the dialect until the test ends it. */
  watch(): Promise<{ readonly frames: readonly Frame[]; got(count: number): Promise<void>; end(): Promise<void> }>;
}

export async function openScene(agents: readonly Agent[], sessions: { readonly [id: string]: string }): Promise<StreamScene> {
  const server = createServer({
    runtime: createRuntime({ agents, store: memoryStore(), logger: silentLogger }),
    dialects: [notificationsDialect],
  });
  const send = (path: string, json?: object): Promise<Response> => {
    const init = json ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(json) } : {};
    return server.fetch(new Request(`http://localhost${path}`, init), { remoteAddress: "127.0.0.1" });
  };
  for (const [id, agent] of Object.entries(sessions)) expect((await send("/api/sessions", { id, agent })).status).toBe(201);
  return {
    server,
    async send(session, input) {
      const answer = await send(`/api/sessions/${session}/messages`, { input });
      expect(answer.status).toBe(202);
      return (await answer.json()) as { readonly runId: string };
    },
    async watch() {
      const answer = await send("/api/notifications?dialect=notifications");
      expect(answer.status).toBe(200);
      const reader = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
      const frames: Frame[] = [];
      const read = async (): Promise<void> => {
        let rest = "";
        for (let next = await reader.read(); !next.done; next = await reader.read()) {
          const blocks = `${rest}${next.value}`.split("\n\n");
          rest = blocks.pop() ?? "";
          for (const block of blocks) {
            const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
            if (event !== undefined && data !== undefined) frames.push({ event, data: JSON.parse(data) });
          }
        }
      };
      void read();
      return {
        frames,
        got: (count) => expect.poll(() => frames.length, { interval: 1 }).toBeGreaterThanOrEqual(count),
        end: () => reader.cancel(),
      };
    },
  };
}
