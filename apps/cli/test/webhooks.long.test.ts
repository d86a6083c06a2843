import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createClient } from "@loopwright/client";
import { textOf } from "@loopwright/core/protocol";
import { checkDelivery, signedHeaders } from "@loopwright/webhooks";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { emptyDirectory, run } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const patience = { timeout: 60_000, interval: 50 };

/** A service that keeps what is delivered to it. */
async function openService() {
  const deliveries: { readonly headers: Headers; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const headers = new Headers(Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]));
      deliveries.push({ headers, body: chunks.join("") });
      response.writeHead(204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { deliveries, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("loopwright run --webhooks", () => {
  it("makes one input of a delivery that comes twice, and delivers how its run ends, signed", async () => {
    const { deliveries, origin } = await openService();
    const cwd = await emptyDirectory();
    const listed = {
      in: { builds: { secret: "BUILDS_SECRET", prompt: "what is 6 * 7?" } },
      out: { pager: { secret: ["BUILDS_SECRET"], url: `${origin}/events`, events: ["run_end"] } },
      privateOrigins: [origin],
    };
    await writeFile(join(cwd, "webhooks.json"), JSON.stringify(listed));
    const port = await freePort();
    const flags = ["--webhooks", "webhooks.json", "--token", "local-0123456789abcdef"];
    const server = await startServer({ cwd, flags, env: { BUILDS_SECRET: secret, LOOPWRIGHT_WEBHOOKS_PORT: String(port) } });
    const body = '{"build": 7}';
    const deliver = async (): Promise<{ readonly status: number; readonly sessionId: string }> => {
      const headers = signedHeaders([secret], { id: "msg_1", timestamp: Math.floor(Date.now() / 1_000), body });
      const answer = await fetch(`http://127.0.0.1:${port}/webhooks/builds`, { method: "POST", headers, body });
      const { sessionId } = (await answer.json()) as { readonly sessionId: string };
      return { status: answer.status, sessionId };
    };
    await vi.waitFor(async () => expect((await deliver()).status).toBe(202), patience);
    const { sessionId } = await deliver();
    await vi.waitFor(() => expect(deliveries).toHaveLength(1), patience);
    const [{ headers, body: sent } = { headers: new Headers(), body: "" }] = deliveries;
    expect(checkDelivery([secret], { headers, body: sent }, Date.now())).toHaveProperty("id");
    expect(JSON.parse(sent)).toMatchObject({ type: "run_end", data: { sessionId, event: { status: "completed" } } });
    const { messages } = await createClient({ url: server.url, token: "local-0123456789abcdef" }).sessions.get(sessionId);
    expect(messages.filter(({ message }) => message.role === "user").map(({ message }) => textOf(message))).toEqual([
      'what is 6 * 7?\n\n```\n{"build": 7}\n```',
    ]);
  });

  it("refuses a file with an unknown field, and a secret that is not set, before it listens", async () => {
    const cwd = await emptyDirectory();
    const started = async (listed: object): Promise<readonly [number | null, string]> => {
      await writeFile(join(cwd, "webhooks.json"), JSON.stringify(listed));
      const { code, stderr } = await run(["run", "--offline", "--port", "0", "--webhooks", "webhooks.json"], { cwd });
      return [code, stderr];
    };
    expect(await started({ in: { builds: { secrets: "A" } } })).toEqual([
      3,
      expect.stringContaining("`secrets` in in.builds is not known."),
    ]);
    expect(await started({ out: { pager: { secret: "PAGER_SECRET", url: "https://a.example" } } })).toEqual([
      3,
      expect.stringContaining("takes its secret from PAGER_SECRET, which is not set"),
    ]);
  });
});
