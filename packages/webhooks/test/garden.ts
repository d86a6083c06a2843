import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import { createAgent } from "@loopwright/core";
import { memoryStore, scripted, systemClock } from "@loopwright/core/memory";
import { type Clock, textOf } from "@loopwright/core/protocol";
import { createRuntime } from "@loopwright/host";
import { accessPolicy, createServer } from "@loopwright/server";
import { vi } from "vitest";

export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
export const anne = { user: "anne", scope: "garden" };

export const until = (condition: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(condition, { timeout: 30_000, interval: 10 }) as Promise<void>;

/** A server whose agent repeats what it reads. */
export interface Garden {
  readonly client: LoopwrightClient;
  /** Of another user of the scope. */
  readonly clientOfBen: LoopwrightClient;
  /** Requests so far. */
  readonly requests: number;
  /** From now on each request meets this. */
  fail(code: "NOT_READY" | undefined): void;
  close(): Promise<void>;
}

const users: { readonly [key: string]: typeof anne } = { "key-of-anne": anne, "key-of-ben": { user: "ben", scope: "garden" } };

/** A server for anne and ben; the clock of its node is so far behind. */
export function openGarden({
  store = memoryStore(),
  behindMs = 0,
}: {
  readonly store?: ReturnType<typeof memoryStore>;
  readonly behindMs?: number;
} = {}): Garden {
  const clock = { ...systemClock, now: () => systemClock.now() - behindMs };
  const clientOf = (user: string) => createClient({ url: "http://localhost", token: `key-of-${user}`, fetch });
  const provider = scripted(({ messages }) => ({ text: `Read: ${textOf(messages.at(-1) ?? { role: "user", content: "" })}` }));
  const server = createServer({
    runtime: createRuntime({ agents: [createAgent({ name: "helper", provider })], store, clock }),
    ...accessPolicy({ store }),
    authenticate: (request) => users[request.headers.get("authorization")?.slice(7) ?? ""],
  });
  let requests = 0;
  let failure: string | undefined;
  const fetch = async (request: Request): Promise<Response> => {
    requests++;
    if (failure !== undefined)
      return Response.json({ code: failure, detail: "Later.", fix: "", retryable: true }, { status: 503, headers: { "Retry-After": "7" } });
    return server.fetch(request, { remoteAddress: "127.0.0.1" });
  };
  return {
    client: clientOf("anne"),
    clientOfBen: clientOf("ben"),
    get requests() {
      return requests;
    },
    fail(code) {
      failure = code;
    },
    close: () => server.close(),
  };
}

/** The system's clock, on which waits for another attempt pass at once, and count in full. */
export function quickClock(): Pick<Clock, "now" | "after"> {
  let passedMs = 0;
  return {
    now: () => Date.now() + passedMs,
    after(ms: number, run: () => void): () => void {
      // The time that a target has to answer is left out.
      if (ms === 15_000) return () => {};
      const isSweep = ms === 60_000;
      const timer = setTimeout(
        () => {
          if (!isSweep) passedMs += ms;
          run();
        },
        isSweep ? 200 : 2,
      );
      return () => clearTimeout(timer);
    },
  };
}

/** A delivery that has arrived. */
export interface Arrived {
  readonly headers: Headers;
  readonly body: string;
  readonly id: string;
  readonly type: string;
}

/** A service that takes deliveries. */
export interface Target {
  readonly url: string;
  readonly origin: string;
  /** All attempts. */
  readonly attempts: readonly Arrived[];
  /** Deliveries that were taken. */
  readonly taken: readonly Arrived[];
  answer(status: number | ((one: Arrived) => number), headers?: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

/** A service on this machine. */
export async function openTarget(): Promise<Target> {
  const attempts: Arrived[] = [];
  const taken: Arrived[] = [];
  let statusOf: (one: Arrived) => number = () => 204;
  let answerHeaders: Readonly<Record<string, string>> = {};
  const server = createHttpServer((request, response) => {
    void bodyOf(request).then((body) => {
      const headers = new Headers(Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]));
      const one = { headers, body, id: headers.get("webhook-id") ?? "", type: (JSON.parse(body) as { readonly type: string }).type };
      attempts.push(one);
      const status = statusOf(one);
      if (status < 300) taken.push(one);
      response.writeHead(status, answerHeaders).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ url: `${origin}/events`, origin, attempts, taken },
    answer(status, headers = {}) {
      statusOf = typeof status === "number" ? () => status : status;
      answerHeaders = headers;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
