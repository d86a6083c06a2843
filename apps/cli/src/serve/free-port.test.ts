import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "./free-port.ts";

const host = "127.0.0.1";

/** A port that is in use. */
async function takenPort(port = 0): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("a free port is taken as it is, and 0 gives any free one", async () => {
  const port = await freePort({ host, port: 0, isPortFixed: true });
  expect(port).toBeGreaterThan(0);
  expect(await freePort({ host, port, isPortFixed: true })).toBe(port);
});

test("a taken port leads to the next free one", async () => {
  const port = await takenPort();
  const found = await freePort({ host, port, isPortFixed: false });
  expect(found).toBeGreaterThan(port);
  expect(found).toBeLessThan(port + 20);
});

test("a taken port that was asked for is an error with what to do", async () => {
  const port = await takenPort();
  await expect(freePort({ host, port, isPortFixed: true })).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: `Port ${port} is taken by another program.`,
    fix: expect.stringContaining("--port"),
  });
});

test("a host that is none of this machine is an error", async () => {
  await expect(freePort({ host: "192.0.2.1", port: 0, isPortFixed: true })).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("192.0.2.1"),
  });
});
