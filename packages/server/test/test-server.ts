import { type Agent, type AgentSettings, createAgent, defineTool, type Tool } from "@loopwright/core";
import { memoryStore, type ScriptedStep, scripted } from "@loopwright/core/memory";
import type { Logger, ModelProvider } from "@loopwright/core/ports";
import type { Problem } from "@loopwright/core/protocol";
import type { AgentServer, ServerEnv } from "@loopwright/server";
import { z } from "zod";
import { type ServeOptions, serve } from "./serve.ts";

/** A tool that the caller runs. */
export const pickColour: Tool = defineTool({
  name: "pick_colour",
  description: "Asks the person for a colour.",
  label: "Pick a colour",
  parameters: z.object({ hint: z.string().optional() }),
});

/** An agent that emits these turns, one after another, then always the last one. */
export function scriptedAgent(
  steps: readonly ScriptedStep[] = hello,
  more: Partial<AgentSettings> & { readonly provider?: ModelProvider } = {},
): Agent {
  const script = Array.from({ length: 100 }, (_, turn) => steps[Math.min(turn, steps.length - 1)] ?? {});
  return createAgent({ name: "helper", provider: scripted(script), ...more });
}

const hello: readonly ScriptedStep[] = [{ text: "Hello." }];

export type SentBody = NonNullable<RequestInit["body"]>;

export interface Sent {
  readonly method?: string;
  readonly json?: unknown;
  readonly body?: SentBody;
  readonly headers?: Record<string, string>;
  readonly env?: ServerEnv;
}

/** As an adapter notifies of a caller on this machine. */
export const fromHere: ServerEnv = { remoteAddress: "127.0.0.1" };

/** A server without a port. */
export interface TestServer {
  readonly server: AgentServer;
  readonly logged: readonly { readonly level: string; readonly message: string; readonly fields: unknown }[];
  send(path: string, sent?: Sent): Promise<Response>;
  /** Sends, and reads the answer as JSON. */
  ask<T = Record<string, unknown>>(
    path: string,
    sent?: Sent,
  ): Promise<{ readonly status: number; readonly headers: Headers; readonly body: T }>;
  /** Sends what is to be refused. */
  refused(path: string, sent?: Sent): Promise<Problem & { readonly headers: Headers }>;
}

export function testServer(options: Partial<ServeOptions> = {}): TestServer {
  const logged: { level: string; message: string; fields: unknown }[] = [];
  const logger: Logger = { log: (level, message, fields) => void logged.push({ level, message, fields }) };
  const server = serve({ agents: [scriptedAgent()], store: memoryStore(), logger, ...options });

  async function send(path: string, { method, json, body, headers = {}, env }: Sent = {}): Promise<Response> {
    const isJson = json !== undefined;
    const content = isJson ? JSON.stringify(json) : body;
    const init: RequestInit & { duplex?: "half" } = {
      method: method ?? (content === undefined ? "GET" : "POST"),
      headers: { ...(isJson ? { "Content-Type": "application/json" } : {}), ...headers },
      ...(content === undefined ? {} : { body: content, duplex: "half" }),
    };
    return server.fetch(new Request(`http://localhost${path}`, init), { ...fromHere, ...env });
  }

  return {
    server,
    logged,
    send,
    async ask<T>(path: string, sent?: Sent) {
      const response = await send(path, sent);
      return { status: response.status, headers: response.headers, body: (await response.json()) as T };
    },
    async refused(path, sent) {
      const response = await send(path, sent);
      if (response.headers.get("Content-Type") !== "application/problem+json")
        throw new Error(`${path} answered ${response.status}, which is no problem document: ${await response.text()}`);
      return { ...((await response.json()) as Problem), headers: response.headers };
    },
  };
}

/** The events route as one text, which ends when the session rests. */
export async function eventsOf({ send }: TestServer, id: string): Promise<string> {
  return (await send(`/api/sessions/${id}/events`)).text();
}
