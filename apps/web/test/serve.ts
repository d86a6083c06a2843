// The built page, served with the offline model: for looking at it, and for the browser tests.
//   node --conditions=@loopwright/source apps/web/test/serve.ts [port] [store file]
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  type Agent,
  AgentError,
  createAgent,
  defineTool,
  type Observer,
  type ResolveModel,
  type Tool,
  type ToolEvent,
} from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { ModelProvider, SessionStore } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { offline } from "@loopwright/providers-scripted";
import { createServer, type ServerOptions } from "@loopwright/server";
import { type Listening, listen, staticFiles } from "@loopwright/server/node";
import { sqliteStore } from "@loopwright/store-sqlite";

export interface ServePageOptions
  extends Pick<
    ServerOptions,
    "approvals" | "authenticate" | "authorize" | "basePath" | "cookies" | "maySee" | "maySeeFile" | "models" | "routes"
  > {
  /** Default: any. */
  readonly port?: number;
  /** A file, for sessions that outlive the process. Default: memory. */
  readonly storePath?: string;
  /** In place of `storePath`. */
  readonly store?: SessionStore;
  /** Default: the offline model at its usual pace. */
  readonly provider?: ModelProvider;
  /** The model of a call, where users bring their own. */
  readonly resolveModel?: ResolveModel;
  readonly observers?: readonly Observer[];
  /** In place of the one agent `demo` of `provider`. */
  readonly agents?: readonly Agent[];
}

/** One tool that answers at once, one that fails on bad arguments, and one that reports its progress. */
export const demoTools: readonly Tool[] = [
  defineTool({
    name: "current_time",
    label: "Current time",
    description: "Tells the current time.",
    parameters: { type: "object", properties: {} },
    replay: "pure",
    execute: () => new Date().toISOString(),
  }),
  defineTool({
    name: "calculate",
    label: "Calculate",
    description: "Multiplies two whole numbers, for example 6 * 7.",
    parameters: { type: "object", properties: { expression: { type: "string" } }, required: ["expression"] },
    replay: "pure",
    execute({ expression }: { readonly expression?: unknown }) {
      const [, left, right] = /^\s*(\d+)\s*\*\s*(\d+)\s*$/.exec(String(expression)) ?? [];
      // What a tool throws reaches the model and the page only as an AgentError.
      if (left === undefined)
        throw new AgentError("TOOL_ARGUMENTS", { message: `\`${String(expression)}\` is not a product of two whole numbers.` });
      return String(Number(left) * Number(right));
    },
  }),
  defineTool({
    name: "read_pages",
    label: "Read pages",
    description: "Reads three pages, one after the other.",
    parameters: { type: "object", properties: {} },
    replay: "pure",
    async *execute(_: unknown, { progress, signal }): AsyncGenerator<ToolEvent, void> {
      for (const page of ["first", "second", "third"]) {
        const step = progress(`Reading the ${page} page`);
        await setTimeout(300, undefined, { signal });
        yield { type: "delta", delta: `The ${page} page says what it says.\n` };
        step.end();
      }
    },
  }),
];

/** The page under an address of this machine, until `close`. */
export async function servePage(options: ServePageOptions = {}): Promise<Listening> {
  const { port = 0, storePath, store, provider = offline(), agents, resolveModel, observers = [], ...rest } = options;
  const server = createServer({
    ...rest,
    runtime: createRuntime({
      agents: agents ?? [createAgent({ name: "demo", provider, tools: demoTools })],
      observers,
      store: store ?? (storePath === undefined ? memoryStore() : sqliteStore(storePath)),
      ...(resolveModel ? { resolveModel } : {}),
    }),
    page: staticFiles(fileURLToPath(new URL("../dist", import.meta.url))),
  });
  const listening = await listen(server, { port });
  return {
    ...listening,
    async close() {
      await server.close();
      await listening.close();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [port, storePath] = process.argv.slice(2);
  const { url } = await servePage({ port: Number(port ?? 0), ...(storePath === undefined ? {} : { storePath }) });
  console.log(url);
}
