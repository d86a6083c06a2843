import { afterEach, expect, it } from "vitest";
import { type WireResponse, type WireServer, type WireStep, wireServer } from "../src/testing/index.ts";

const write = (text: string): WireStep => ({ type: "write", bytes: new TextEncoder().encode(text) });
let server: WireServer | undefined;

afterEach(() => server?.close());

async function writing(...steps: readonly WireStep[]): Promise<WireServer> {
  return playing({ type: "answer", status: 200, headers: {}, steps });
}

async function playing(response: WireResponse): Promise<WireServer> {
  server = await wireServer(() => response);
  return server;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

it("sends the bytes, piece by piece, and keeps the requests", async () => {
  const { origin, requests, hangUps } = await writing(write("one "), write(""), write("two"));
  const response = await fetch(`${origin}/path?x=1`, { method: "POST", body: '{"a":1}' });
  expect(await response.text()).toBe("one two");
  expect(requests).toEqual([{ path: "/path?x=1", body: { a: 1 } }]);
  expect(hangUps()).toBe(0);
});

it("holds an answer until it is released", async () => {
  const wire = await writing(write("one "), { type: "hold" }, write("two"));
  const text = fetch(wire.origin).then((response) => response.text());
  await until(wire.isSilent);
  wire.release();
  expect(await text).toBe("one two");
  expect(wire.hangUps()).toBe(0);
});

it("counts a client that leaves a held answer", async () => {
  const wire = await writing(write("one "), { type: "hold" });
  const abort = new AbortController();
  const text = fetch(wire.origin, { signal: abort.signal }).then((response) => response.text());
  text.catch(() => undefined);
  await until(wire.isSilent);
  expect(wire.hangUps()).toBe(0);
  abort.abort();
  await until(() => wire.hangUps() === 1);
});

it("lets written bytes arrive before it cuts, and does not count that as a client that left", async () => {
  const wire = await writing(write("one"), { type: "cut" });
  const reader = (await fetch(wire.origin)).body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("one");
  await expect(reader?.read()).rejects.toThrow("terminated");
  expect(wire.hangUps()).toBe(0);
});

it("drops a connection before the headers", async () => {
  await expect(fetch((await playing({ type: "drop" })).origin)).rejects.toThrow("fetch failed");
});
