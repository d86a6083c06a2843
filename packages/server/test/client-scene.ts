import { type ClientOptions, createClient, type LoopwrightClient } from "@loopwright/client";
import { type Agent, type AgentSettings, createAgent } from "@loopwright/core";
import {
  memoryStore,
  randomIds,
  type ScriptedProvider,
  type ScriptedStep,
  scripted,
  seededRandom,
  silentLogger,
} from "@loopwright/core/memory";
import type { AgentServer } from "../src/index.ts";
import { type ServeOptions, serve } from "./serve.ts";
import { fromHere } from "./test-server.ts";

/** A server of one agent in this process, and a client in front of it. */
export interface ClientScene extends AsyncDisposable {
  readonly server: AgentServer;
  readonly client: LoopwrightClient;
  readonly model: ScriptedProvider;
  readonly agent: Agent;
  /** Every request that reached the server, as `METHOD path`. */
  readonly asked: readonly string[];
  /** JSON bodies of the requests, where they had one. */
  readonly bodies: readonly unknown[];
}

export interface ClientSceneOptions extends Partial<AgentSettings> {
  readonly script: readonly ScriptedStep[];
  /** Cuts answers and loses them, as this number decides. Default: never. */
  readonly cuts?: number;
  readonly server?: Partial<ServeOptions>;
  readonly client?: Partial<ClientOptions>;
}

/** Waits between tries are over at once; a stream that is silent is waited for. */
const hasty: NonNullable<ClientOptions["clock"]> = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = ms > 15_000 ? undefined : setImmediate(run);
    return () => clearImmediate(timer);
  },
};

const lostMax = 3;

/** A client that is cut all the time asks often. */
const hastyLimits = { requestsPerMinute: 1_000_000, writesPerMinute: 1_000_000 };

export function clientScene({ script, cuts, server: serverOptions, client: clientOptions, ...options }: ClientSceneOptions): ClientScene {
  const model = scripted(script, { chunkSize: 3 });
  const agent = createAgent({ name: "tester", provider: model, ...options });
  const ids = { ...randomIds, random: () => 0 };
  const server = serve({ agents: [agent], store: memoryStore(), logger: silentLogger, ids, limits: hastyLimits, ...serverOptions });
  const asked: string[] = [];
  const bodies: unknown[] = [];
  const random = cuts === undefined ? undefined : seededRandom(cuts);
  /** Requests in a row without an answer: a client gives up on a server that never was there. */
  let lost = 0;
  const client = createClient({
    url: "http://localhost",
    clock: hasty,
    async fetch(request) {
      asked.push(`${request.method} ${new URL(request.url).pathname}`);
      if (request.headers.get("Content-Type") === "application/json") bodies.push(await request.clone().json());
      const isLost = (): boolean => random !== undefined && lost < lostMax && random() < 0.1;
      lost += 1;
      if (isLost()) throw new TypeError("It did not get through.");
      const response = await server.fetch(request, fromHere);
      if (isLost()) {
        await response.body?.cancel();
        throw new TypeError("The answer was lost.");
      }
      lost = 0;
      return random && response.headers.get("Content-Type")?.startsWith("text/event-stream") && response.body
        ? new Response(cut(response.body, random), response)
        : response;
    },
    ...clientOptions,
  });
  return {
    ...{ server, client, model, agent, asked, bodies },
    async [Symbol.asyncDispose]() {
      await server.close();
    },
  };
}

/** The body in pieces of any size, cut at any byte: by an error, or by what looks like an end. */
function cut(body: ReadableStream<Uint8Array>, random: () => number): ReadableStream<Uint8Array> {
  let left = Math.floor(random() ** 2 * 4_000);
  const reader = body.getReader();
  let held = new Uint8Array();
  return new ReadableStream({
    async pull(controller) {
      if (held.length === 0) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        held = new Uint8Array(value);
      }
      const piece = held.slice(0, 1 + Math.floor(random() * 400));
      held = held.slice(piece.length);
      controller.enqueue(piece.slice(0, left));
      left -= piece.length;
      if (left > 0) return;
      void reader.cancel();
      if (random() < 0.5) controller.close();
      else controller.error(new Error("The socket was cut."));
    },
    cancel: () => reader.cancel(),
  });
}

/** Another client of the same server, whose connections are never cut. */
export function clientOf({ server }: Pick<ClientScene, "server">): LoopwrightClient {
  return createClient({ url: "http://localhost", fetch: (request) => server.fetch(request, fromHere) });
}
