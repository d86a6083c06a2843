import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { answers } from "./doctor.ts";

test("a server whose address has a name and a password is asked with both, and is not taken for away", async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  try {
    expect(await answers(`http://anne:p%40ss@127.0.0.1:${port}/`)).toBe(true);
    expect(await answers(`http://127.0.0.1:${port}`)).toBe(true);
    expect(seen).toEqual([`Basic ${Buffer.from("anne:p@ss").toString("base64")}`, undefined]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  await once(server, "close");
  expect(await answers(`http://anne:secret@127.0.0.1:${port}`)).toBe(false);
});
