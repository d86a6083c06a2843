import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import {
  type AgentError,
  createAgent,
  createSession,
  failureOf as dataOf,
  errorTable,
  execute,
  linkAfter,
  type ModelChain,
} from "@loopwright/core";
import { manualClock, memoryStore, seededIds } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { collectAnswer } from "@loopwright/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { nodeHttp } from "../src/node/index.ts";
import { type WireResponse, wireServer } from "../src/testing/index.ts";
import { littleProvider } from "./little-vendor.ts";

const request = { model: "little-1", messages: [{ role: "user", content: "Hello." }] } as const;
const links = ["a", "b"].map((provider) => ({ provider, model: provider, keyOwner: "platform" as const }));
const chain: ModelChain = { links };
const pem = (name: string): string => readFileSync(new URL(`fixtures/localhost.${name}.pem`, import.meta.url), "utf8");

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await portOf(server);
  await new Promise((closed) => server.close(closed));
  return port;
}

async function failureOf(provider: ModelProvider): Promise<AgentError> {
  return collectAnswer(provider, request).then(
    () => expect.fail("the call succeeded"),
    (error: unknown) => error as AgentError,
  );
}

async function served(respond: () => WireResponse) {
  const server = await wireServer(respond);
  onTestFinished(() => server.close());
  return server;
}

const answer = (status: number, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): WireResponse => ({
  type: "answer",
  status,
  headers,
  steps: [{ type: "write", bytes: typeof body === "string" ? new TextEncoder().encode(body) : body }],
});

/** Whether another model would be asked, once this one has no attempts left. */
const fallsBack = (error: AgentError): boolean =>
  linkAfter({ failure: dataOf(error), link: 0, hasSpoken: false, isCommitted: false, attemptsLeft: 0 }, chain) !== undefined;

const node = nodeHttp({ proxy: false });

describe.each([
  ["the global fetch", undefined],
  ["node:http", node],
])("over %s", (_, transport) => {
  const little = (url: string): ModelProvider => littleProvider(url, "none", transport);

  it("F9: an unknown host name is a network error, which may pass", async () => {
    const error = await failureOf(little("http://vendor.invalid/"));
    expect([error.code, errorTable[error.code].class, error.retryable, fallsBack(error)]).toEqual([
      "MODEL_UNREACHABLE",
      "network",
      true,
      true,
    ]);
  });

  it("F9: a port without a listener is a network error, which may pass", async () => {
    const error = await failureOf(little(`http://127.0.0.1:${await closedPort()}/`));
    expect([error.code, error.retryable, fallsBack(error)]).toEqual(["MODEL_UNREACHABLE", true, true]);
    expect(error.message).toContain("ECONNREFUSED");
  });

  it("F9: an address of version 6 that is dead does not matter where one of version 4 lives", async () => {
    const server = await served(() => answer(200, '{"say":"hi"}\n{"end":"done"}\n'));
    const { answer: written } = await collectAnswer(little(`${server.origin.replace("127.0.0.1", "localhost")}/`), request);
    expect(written.parts).toEqual([{ type: "text", text: "hi" }]);
  });

  it("F9: an untrusted certificate ends the call: neither this model nor another one is asked", async () => {
    const port = await portOf(createTlsServer({ cert: pem("cert"), key: pem("key") }));
    const error = await failureOf(little(`https://localhost:${port}/`));
    expect([error.code, error.retryable, fallsBack(error)]).toEqual(["MODEL_UNREACHABLE", false, false]);
    expect(error.message).toContain("certificate");
  });

  it.each([
    [401, "MODEL_AUTH"],
    [403, "MODEL_AUTH"],
    [402, "MODEL_QUOTA_EXHAUSTED"],
    [400, "MODEL_BAD_REQUEST"],
  ])("F9: status %i is %s, and no other model is asked", async (status, code) => {
    const server = await served(() => answer(status, '{"error":"No."}'));
    const error = await failureOf(little(`${server.origin}/`));
    expect([error.code, error.retryable, fallsBack(error)]).toEqual([code, false, false]);
    expect(server.requests).toHaveLength(1);
  });

  it("F9: a 407 is trouble on the way, not of the key", async () => {
    const server = await served(() => answer(407, ""));
    const error = await failureOf(little(`${server.origin}/`));
    // By the standard of fetch a 407 is a network error of which nothing else is known: only our own transport knows more.
    expect([error.code, error.retryable]).toEqual(["MODEL_UNREACHABLE", transport === undefined]);
    expect(server.requests).toHaveLength(1);
  });

  it("F5: a body that claims to be gzip and is not is a broken answer, which may be asked for again", async () => {
    const garbage = Uint8Array.from({ length: 200 }, (_, at) => (at * 37) % 256);
    const server = await served(() => answer(200, garbage, { "content-encoding": "gzip" }));
    const error = await failureOf(little(`${server.origin}/`));
    expect(["MODEL_STREAM_BROKEN", "MODEL_UNREACHABLE", "MODEL_PROTOCOL"]).toContain(error.code);
    expect(error.retryable).toBe(true);
  });

  it.each<[string, string]>([
    ["nothing", ""],
    ["a page", "<!doctype html><p>Sign in to the network</p>"],
    ["half an event", '{"say":"ha'],
    ["all but the end", '{"say":"half"}\n{"tokens":7}\n'],
  ])("F5: a body with status 200 that holds %s is no answer, and may be asked for again", async (_, body) => {
    const server = await served(() => answer(200, body));
    const error = await failureOf(little(`${server.origin}/`));
    expect(["MODEL_STREAM_BROKEN", "MODEL_PROTOCOL"]).toContain(error.code);
    expect(error.retryable).toBe(true);
  });

  it("F5: an error of an unknown type inside an answer counts as temporary", async () => {
    const server = await served(() => answer(200, '{"say":"half"}\n{"error":"flux_capacitor_error"}\n'));
    const error = await failureOf(little(`${server.origin}/`));
    expect([errorTable[error.code].class, error.retryable]).toEqual(["overload", true]);
  });

  it.each<[string, WireResponse, number]>([
    ["sends no headers", { type: "silence" }, 60_000],
    ["sends its headers and falls silent", { type: "answer", status: 200, headers: {}, steps: [{ type: "hold" }] }, 60_000],
    [
      "falls silent after its first word",
      {
        type: "answer",
        status: 200,
        headers: {},
        steps: [{ type: "write", bytes: new TextEncoder().encode('{"say":"half"}\n') }, { type: "hold" }],
      },
      60_000,
    ],
  ])("F3: a server that %s is left after its time, its socket is closed, and the next attempt answers", async (_, first, ms) => {
    let calls = 0;
    const server = await served(() => (++calls === 1 ? first : answer(200, '{"say":"whole"}\n{"end":"done"}\n')));
    const clock = manualClock();
    const provider = little(`${server.origin}/`);
    const agent = createAgent({ name: "a", provider });
    const session = createSession({ agent, clock, store: memoryStore({ clock }), ids: seededIds(2) });
    const spoke = ms === 60_000 && first.type === "answer" && first.steps.length > 1;
    let isShown = !spoke;
    session.subscribe((events) => {
      if (events.some(({ type }) => type === "text_delta")) isShown = true;
    });
    let isDone = false;
    const running = execute(session, "x").result();
    void running.then(() => {
      isDone = true;
    });
    const turn = (): Promise<void> => new Promise((next) => setImmediate(next));
    while (!server.isSilent() || !isShown) await turn();
    for (let passed = 0; passed < ms && server.hangUps() === 0; passed += 2_000) {
      clock.advance(2_000);
      for (let round = 0; round < 3; round++) await turn();
    }
    while (server.hangUps() === 0) await turn();
    while (!isDone) {
      clock.advance(500);
      await turn();
    }
    const { status, text } = await running;
    expect([status, text, calls]).toEqual(["completed", "whole", 2]);
  });
});
