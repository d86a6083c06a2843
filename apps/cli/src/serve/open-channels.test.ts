import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { expect, it, onTestFinished, vi } from "vitest";
import { openChannels } from "./open-channels.ts";

const patience = { timeout: 20_000, interval: 20 };

/** A Bot API that answers requests about the bot with these codes, the last one for good. */
async function botApi(codes: number[]): Promise<string> {
  const server = createHttpServer((request, response) => {
    if (request.url?.endsWith("/getUpdates")) return;
    const code = request.url?.endsWith("/getMe") ? ((codes.length > 1 ? codes.shift() : codes[0]) ?? 200) : 200;
    const answer =
      code === 200 ? { ok: true, result: { id: 1, username: "helper_bot" } } : { ok: false, error_code: code, description: "" };
    response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function opened(codes: number[]) {
  const apiRoot = await botApi(codes);
  const folder = mkdtempSync(join(tmpdir(), "open-channels-"));
  const agent = createAgent({ name: "helper", provider: scripted([{ text: "Yes." }]) });
  const server = createServer({ runtime: createRuntime({ agents: [agent], store: memoryStore() }) });
  const lines: string[] = [];
  const waits: (() => void)[] = [];
  const channels = openChannels({
    channels: { telegram: { token: "1:a-token", apiRoot, webhook: undefined, allow: {} } },
    wishes: { token: undefined, auth: undefined },
    ...{ server, url: "http://localhost", memoryPath: join(folder, "chats.db") },
    logger: { log: (level, message) => void lines.push(`${level}: ${message}`), notify: (event) => void lines.push(event) },
    clock: {
      after(_, run) {
        waits.push(run);
        return () => {};
      },
    },
  });
  onTestFinished(async () => {
    await channels.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });
  return { channels, lines, waits };
}

it("a Telegram that fails at the start is asked again, and its channel works once it answers", async () => {
  const { channels, lines, waits } = await opened([502, 429, 200]);
  const failed = vi.fn();
  channels.failed.catch(failed);
  for (let tries = 1; tries <= 2; tries++) {
    await vi.waitFor(() => expect(waits).toHaveLength(tries), patience);
    waits[tries - 1]?.();
  }
  await vi.waitFor(() => expect(lines).toEqual(["warn: A chat channel could not be started. It is tried again.", "channel"]), patience);
  expect(failed).not.toHaveBeenCalled();
});

it("a wrong token ends the start, and a channel that is closed is not tried any more", async () => {
  const { channels } = await opened([401]);
  await expect(channels.failed).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  const waiting = await opened([502]);
  await vi.waitFor(() => expect(waiting.waits).toHaveLength(1), patience);
  await waiting.channels.close();
});
