import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { nodeHttp } from "./node-http.ts";

/** A server that keeps the head of each request; its address. */
async function noting(heads: IncomingMessage[]): Promise<string> {
  const server = createServer((request, response) => {
    heads.push(request);
    request.resume();
    response.end("{}");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`;
}

/** The lines of a request's head that have a name, in the order of the wire. */
function linesOf(head: IncomingMessage | undefined, name: string): string[] {
  const raw = head?.rawHeaders ?? [];
  return raw.filter((_, at) => at % 2 === 1 && raw[at - 1]?.toLowerCase() === name);
}

describe("the headers of a request over node:http", () => {
  it.each([
    ["a record", { "x-one": "1", "content-type": "application/json" }],
    ["a Headers", new Headers({ "x-one": "1", "content-type": "application/json" })],
    ["a list of pairs", [["X-One", "1"] as [string, string], ["Content-Type", "application/json"] as [string, string]]],
    ["a record whose names have capitals", { "X-One": "1", "Content-Type": "application/json" }],
  ])("are each sent once, given as %s", async (_, headers) => {
    const heads: IncomingMessage[] = [];
    const url = await noting(heads);
    const response = await nodeHttp()(url, { method: "POST", headers, body: "ä{}" });
    expect(response.status).toBe(200);
    const [head] = heads;
    expect(linesOf(head, "x-one")).toEqual(["1"]);
    expect(linesOf(head, "content-type")).toEqual(["application/json"]);
    expect(linesOf(head, "host")).toEqual([new URL(url).host]);
    expect(linesOf(head, "content-length")).toEqual(["4"]);
    expect(linesOf(head, "transfer-encoding")).toEqual([]);
  });

  it("join two names of a record that differ in their case alone, as fetch does", async () => {
    const heads: IncomingMessage[] = [];
    await nodeHttp()(await noting(heads), { headers: { "X-One": "1", "x-one": "2" } });
    expect(heads[0]?.headers["x-one"]).toBe("1, 2");
  });

  it("state the size of a body that is empty where a method has one, and none where it has not", async () => {
    const heads: IncomingMessage[] = [];
    const url = await noting(heads);
    for (const method of ["POST", "PUT", "GET", "DELETE"]) await nodeHttp()(url, { method });
    expect(heads.map((head) => linesOf(head, "content-length"))).toEqual([["0"], ["0"], [], []]);
    expect(heads.map((head) => linesOf(head, "transfer-encoding"))).toEqual([[], [], [], []]);
  });

  it("are not those of a caller where they would contradict the body", async () => {
    const heads: IncomingMessage[] = [];
    const headers = { "content-length": "3", "transfer-encoding": "chunked" };
    await nodeHttp()(await noting(heads), { method: "POST", headers, body: "{}" });
    expect(linesOf(heads[0], "content-length")).toEqual(["2"]);
    expect(linesOf(heads[0], "transfer-encoding")).toEqual([]);
  });

  it("keep a connection for the next request", async () => {
    const heads: IncomingMessage[] = [];
    const url = await noting(heads);
    const fetch = nodeHttp();
    for (let again = 0; again < 2; again++) await (await fetch(url, { method: "POST", headers: { "x-one": "1" }, body: "{}" })).text();
    expect(heads.map((head) => linesOf(head, "connection"))).toEqual([["keep-alive"], ["keep-alive"]]);
    expect(heads[0]?.socket).toBe(heads[1]?.socket);
  });

  it("refuse a value with a line break before anything is sent, without repeating it", async () => {
    const heads: IncomingMessage[] = [];
    const url = await noting(heads);
    const refusal = await nodeHttp()(url, { headers: { authorization: "Bearer secret\nx-two: 2" } }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(TypeError);
    expect(String(refusal)).toContain("authorization");
    expect(String(refusal)).not.toContain("secret");
    expect(heads).toEqual([]);
  });
});
