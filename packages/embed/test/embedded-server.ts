import { type Agent, type AgentSettings, createAgent } from "@loopwright/core";
import { memoryStore, type ScriptedStep, scripted } from "@loopwright/core/memory";
import type { Logger } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { createServer, type ServerOptions } from "@loopwright/server";
import { type Embedding, embedOptions } from "../src/index.ts";

/** An agent that always does the last of these steps again. */
export function scriptedAgent(steps: readonly ScriptedStep[], more: Partial<AgentSettings> = {}): Agent {
  const script = Array.from({ length: 20 }, (_, turn) => steps[Math.min(turn, steps.length - 1)] ?? {});
  return createAgent({ name: "helper", provider: scripted(script), ...more });
}

export interface EmbeddedServer {
  readonly logged: readonly { readonly level: string; readonly message: string; readonly fields: unknown }[];
  send(path: string, sent: { readonly json: unknown }): Promise<Response>;
  /** The problem document of what is to be refused. */
  refused(path: string, sent: { readonly json: unknown }): Promise<unknown>;
}

/** A server with all of this package, for a caller on this machine. */
export function embeddedServer(embedding: Embedding, more: Partial<ServerOptions> = {}): EmbeddedServer {
  const logged: { level: string; message: string; fields: unknown }[] = [];
  const logger: Logger = { log: (level, message, fields) => void logged.push({ level, message, fields }) };
  const { agents, ...options } = embedOptions(embedding);
  const server = createServer({ runtime: createRuntime({ agents, store: memoryStore(), logger }), ...options, ...more });
  const send: EmbeddedServer["send"] = (path, { json }) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(json) };
    return server.fetch(new Request(`http://localhost${path}`, init), { remoteAddress: "127.0.0.1" });
  };
  return {
    ...{ logged, send },
    async refused(path, sent) {
      const response = await send(path, sent);
      if (response.headers.get("Content-Type") !== "application/problem+json") throw new Error(`${path} answered ${response.status}.`);
      return response.json();
    },
  };
}
