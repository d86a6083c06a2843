/* The flags of `run` and `serve`: what each one does in a process, and what a value that is none is answered. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fakeTelegram } from "@loopwright/chat-telegram/testing";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended, emptyDirectory, type Running, runEach, start } from "./run-binary.ts";

const bot = "4200:AAfakefakefakefakefakefakefakefakefa";
const caller = "caller-0123456789abcdef";
/** What a guardrail would redact. */
const leak = `ghp_${"wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"}`;

async function listening(answer: Parameters<typeof createServer>[1]): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer(answer as () => void);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A port that no process has. */
async function unusedPort(): Promise<number> {
  const { server, url } = await listening(undefined);
  server.close();
  await once(server, "close");
  return Number(new URL(url).port);
}

describe("one `run` with all of its flags", () => {
  const models = new Set<string>();
  const keys = new Set<string | undefined>();
  const verified: string[] = [];
  const held: ServerResponse[] = [];
  const ends: (() => unknown)[] = [];
  let [port, telegramRequests]: [number, readonly { readonly method: string }[]] = [0, []];
  let running: Running;
  let client: LoopwrightClient;

  beforeAll(async () => {
    const vendor = await listening(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const { model, messages } = JSON.parse(Buffer.concat(pieces).toString()) as {
        readonly model: string;
        readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
      };
      models.add(model);
      keys.add(request.headers.authorization);
      response.setHeader("content-type", "text/event-stream");
      const chunk = (delta: object, end: string | null = null): string =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
      if (messages.at(-1)?.role === "user" && String(messages.at(-1)?.content).includes("wait")) {
        response.write(chunk({ content: "It takes" }));
        return void held.push(response);
      }
      const call = {
        tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "calculate", arguments: '{"expression":"6*7"}' } }],
      };
      if (messages.at(-1)?.role === "user") return void response.end(`${chunk(call)}${chunk({}, "tool_calls")}data: [DONE]\n\n`);
      response.end(`${chunk({ content: `${leak} ${String(messages.at(-1)?.content)}` })}${chunk({}, "stop")}data: [DONE]\n\n`);
    });
    const verifier = await listening((request, response) => {
      verified.push(String(request.headers.authorization));
      const isKnown = request.headers.authorization === `Bearer ${caller}`;
      response
        .writeHead(isKnown ? 200 : 401, { "content-type": "application/json" })
        .end(isKnown ? '{"user":"ann","scope":"local"}' : "{}");
    });
    const telegram = await fakeTelegram(bot);
    telegramRequests = telegram.requests;
    port = await unusedPort();
    const cwd = await emptyDirectory();
    await writeFile(
      join(cwd, "mine.env"),
      `CUSTOM_API_KEY=key-of-the-file\nOPENAI_API_KEY=key-of-the-file\nTELEGRAM_BOT_TOKEN=${bot}\nLOOPWRIGHT_TELEGRAM_URL=${telegram.url}\nLOOPWRIGHT_MODEL=model-of-the-file\n`,
    );
    const flags = `--port ${port} --host 127.0.0.1 --shutdown-timeout 0 --with telegram --mock-tools --provider openai --model model-of-the-flag --base-url ${vendor.url}/v1 --env mine.env --no-guardrails --auth-url ${verifier.url}`;
    running = start(["run", ...flags.split(" ")], { cwd, env: { LOOPWRIGHT_INTERNAL_TOKEN: "internal-0123456789abcdef" } });
    for (const { server } of [vendor, verifier])
      ends.push(
        () => server.closeAllConnections(),
        () => server.close(),
      );
    ends.push(
      () => telegram.close(),
      () => running.child.kill("SIGKILL"),
      () => running.ended,
    );
    await running.prints("Ctrl+C stops it");
    client = createClient({ url: `http://127.0.0.1:${port}`, token: caller });
  }, 120_000);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  test("C31, C32, C33: listens at the address and the port of --host and --port, and answers there", async () => {
    expect(await running.prints("\n")).toContain(` at http://127.0.0.1:${port}`);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  });

  test("C40: admits callers that --auth-url admits", async () => {
    const statusOf = async (token: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/api/sessions`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await statusOf(caller), await statusOf("another-0123456789")]).toEqual([200, 401]);
    expect(verified).toEqual([`Bearer ${caller}`, "Bearer another-0123456789"]);
  });

  test("C36, C37, C38, C39: calls the model of --model at --provider with the key of --env, runs no tool with --mock-tools, and evaluates nothing with --no-guardrails", async () => {
    const stream = client.execute("What is 6 * 7?", { context: {} });
    const { status, text } = await stream.result();
    expect([status, [...models], [...keys]]).toEqual(["completed", ["model-of-the-flag"], ["Bearer key-of-the-file"]]);
    expect(text).toContain(leak);
    expect(text).not.toContain("42");
    expect(JSON.stringify(await client.sessions.get(stream.sessionId))).not.toContain('"verdict"');
  });

  test("C35: asks for the messages of the bot of --with", { timeout: 120_000 }, async () => {
    await expect.poll(() => telegramRequests.map(({ method }) => method), { timeout: 100_000 }).toContain("getUpdates");
  });

  test("C34: waits for no run at SIGTERM with --shutdown-timeout 0, and warns at the start of what is not evaluated and not run", async () => {
    client.execute("wait", { context: {} });
    await expect.poll(() => held.length, { timeout: 60_000 }).toBe(1);
    running.child.kill("SIGTERM");
    const { code, stderr } = await running.ended;
    expect([code, held[0]?.writableEnded]).toEqual([0, false]);
    expect(stderr).toContain("WARNING: no guardrail is evaluated");
    expect(stderr).toMatch(/WARNING: .*tool/);
  });
});

test("C32, C33, C34, C35, C37, C38, C39, C40, C41, C43, C45: a value that is none ends `run` and `serve` before anything is begun, with the flag or the value and what to do", async () => {
  const cases: readonly (readonly [words: string, complaint: string, code?: number])[] = [
    ["run --port web", "`web` is no port"],
    ["run --host 0.0.0.0", "--insecure"],
    ["run --shutdown-timeout soon", "`soon` is no time"],
    ["run --with pigeons", "`pigeons` is no chat channel"],
    ["run --provider opnai", "no provider `opnai`"],
    ["run --env none.env", "none.env"],
    ["run --enforce-guardrails=perhaps", "perhaps"],
    ["run --guardrails none.json", "none.json"],
    ["run --auth-url nowhere", "The address of the service that checks tokens"],
    ["run --mock-toolz", "--mock-tools", 2],
    ["serve --port web", "`web` is no port"],
    ["serve --host 0.0.0.0", "--insecure"],
    ["serve begin", "begin", 2],
    ["serve stop --timeout soon", "--timeout", 2],
    ["serve logs --lines none", "--lines", 2],
    ["serve status --jsno", "--json", 2],
  ];
  const cwd = await emptyDirectory();
  const ended: readonly Ended[] = await runEach(
    cases.map(([words]) => ({ words: words.split(" ") })),
    { cwd },
  );
  const seen = ended.map(({ code, stdout, stderr }, at) => ({ words: cases[at]?.[0], code, stdout, stderr }));
  expect(seen).toEqual(
    cases.map(([words, complaint, code = 3]) => ({ words, code, stdout: "", stderr: expect.stringContaining(complaint) })),
  );
}, 120_000);
