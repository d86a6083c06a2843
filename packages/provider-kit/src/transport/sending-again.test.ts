import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { defaultTransport as nodeTransport } from "../node/node-transport.ts";
import { trailersOf } from "../node/response-trailers.ts";
import { defaultTransport as globalTransport } from "./global-transport.ts";
import { modelTransport } from "./model-transport.ts";
import { sendAgainMax, sendingAgain, sparesMax } from "./sending-again.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** A server that answers as the test asks, and closes the connection without an answer where it has no answer. */
async function serve(answer: (count: number) => string | undefined): Promise<{ readonly url: string; readonly seen: () => number }> {
  let seen = 0;
  const sockets = new Set<Socket>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    request.once("end", () => {
      const text = answer(++seen);
      if (text === undefined) request.socket.destroy();
      else response.end(text);
    });
  });
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen: () => seen };
}

const post = { method: "POST", body: "prompt" } as const;
const provider = "Vendor";

describe.each([
  // Two answers, four failed calls: one connection was reused, so one request is sent again.
  { where: "on Node.js", defaultTransport: nodeTransport, seenOfDying: 7 },
  // Every answer counts as one connection that may be reused.
  { where: "elsewhere", defaultTransport: globalTransport, seenOfDying: 8 },
])("the default transport $where", ({ defaultTransport, seenOfDying }) => {
  it("sends once more what a reused connection lost before an answer", async () => {
    const { url, seen } = await serve((count) => (count === 2 ? undefined : `answer ${count}`));
    const transport = defaultTransport();
    expect(await (await transport(url, post)).text()).toBe("answer 1");
    expect(await (await transport(url, post)).text()).toBe("answer 3");
    expect(seen()).toBe(3);
  });

  it("sends nothing again to a server that has not answered before", async () => {
    const { url, seen } = await serve(() => undefined);
    const transport = defaultTransport();
    for (let call = 1; call <= 3; call++) await expect(transport(url, post)).rejects.toThrow(TypeError);
    expect(seen()).toBe(3);
  });

  it("sends no more requests again than it reused connections, to a server that died", async () => {
    const { url, seen } = await serve((count) => (count <= 2 ? "answer" : undefined));
    const transport = defaultTransport();
    for (let call = 1; call <= 2; call++) await (await transport(url, post)).text();
    for (let call = 1; call <= 4; call++) await expect(transport(url, post)).rejects.toThrow(TypeError);
    expect(seen()).toBe(seenOfDying);
  });

  it("is the global `fetch` where a program has replaced that", async () => {
    const { fetch } = globalThis;
    cleanUps.push(() => {
      globalThis.fetch = fetch;
    });
    const transport = defaultTransport();
    globalThis.fetch = async () => new Response("of the program");
    expect(await (await transport("http://vendor.test", post)).text()).toBe("of the program");
  });
});

describe("the transport of a provider", () => {
  it("leaves a transport that was given alone", async () => {
    const { url, seen } = await serve((count) => (count === 2 ? undefined : "answer"));
    const transport = modelTransport((input, init) => fetch(input, init), { provider });
    await (await transport(url, post)).text();
    await expect(transport(url, post)).rejects.toThrow(TypeError);
    expect(seen()).toBe(2);
  });

  it("is over `node:http` on Node.js, where none was given", async () => {
    const { url } = await serve(() => "answer");
    const response = await modelTransport(undefined, { provider })(url, post);
    await response.text();
    // `fetch` drops the trailers of an answer.
    expect(trailersOf(response)).toBeInstanceOf(Headers);
  });
});

describe("sending again", () => {
  const lost = (): Promise<never> => Promise.reject(new TypeError("fetch failed", { cause: { code: "ECONNRESET" } }));

  /** Answers as often as the test asks, then loses every connection. */
  function dying(answers: number): { readonly transport: typeof fetch; readonly calls: () => number } {
    let calls = 0;
    const transport = sendingAgain(() => (++calls <= answers ? Promise.resolve(new Response("ok")) : lost()));
    return { transport, calls: () => calls };
  }

  it(`gives a request up after it was sent again ${sendAgainMax} times`, async () => {
    const { transport, calls } = dying(20);
    for (let call = 0; call < 20; call++) await transport("http://vendor.test");
    await expect(transport("http://vendor.test", post)).rejects.toThrow(TypeError);
    expect(calls()).toBe(20 + 1 + sendAgainMax);
  });

  it(`takes at most ${sparesMax} connections for reusable`, async () => {
    const answers = sparesMax + 50;
    const { transport, calls } = dying(answers);
    for (let call = 0; call < answers; call++) await transport("http://vendor.test");
    const failures = sparesMax;
    for (let call = 0; call < failures; call++) await expect(transport("http://vendor.test")).rejects.toThrow(TypeError);
    expect(calls()).toBe(answers + failures + sparesMax);
  });

  it.each<[string, RequestInit | undefined, unknown]>([
    ["a body that can be read once", { method: "POST", body: new Blob(["x"]).stream() }, { code: "ECONNRESET" }],
    ["an aborted call", { signal: AbortSignal.abort() }, { code: "ECONNRESET" }],
    ["a name that nobody knows", undefined, { code: "ENOTFOUND" }],
    ["an answer that is late", undefined, { code: "UND_ERR_HEADERS_TIMEOUT" }],
  ])("is not for %s", async (_, init, cause) => {
    let calls = 0;
    const transport = sendingAgain(() =>
      ++calls === 1 ? Promise.resolve(new Response("ok")) : Promise.reject(new TypeError("x", { cause })),
    );
    await transport("http://vendor.test");
    await expect(transport("http://vendor.test", init)).rejects.toThrow(TypeError);
    expect(calls).toBe(2);
  });
});
