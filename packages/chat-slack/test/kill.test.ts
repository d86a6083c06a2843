import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { anyOf, internalTokens } from "@loopwright/auth";
import { createClient } from "@loopwright/client";
import { createAgent } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { textOf } from "@loopwright/core/protocol";
import { createRuntime } from "@loopwright/host";
import { accessPolicy, bearerTokens, createServer } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { expect, it, onTestFinished, vi } from "vitest";
import { fakeSlack } from "../src/testing/index.ts";
import { anne, tokens } from "./garden.ts";

const sources = process.env["LOOPWRIGHT_BUILT"] === "1" ? [] : ["--conditions=@loopwright/source"];
const internalToken = "internal-token-of-the-garden";
const program = fileURLToPath(new URL("bot-process.ts", import.meta.url));
const patience = { timeout: 90_000, interval: 25 };

it("C50: a bot with the internal token alone reaches a server that asks others for credentials, and each message becomes one input across kill -9", async () => {
  const store = memoryStore();
  const provider = scripted(({ messages }) => ({ text: `Read: ${textOf(messages.at(-1) ?? { role: "user", content: "" })}` }));
  const server = createServer({
    runtime: createRuntime({ agents: [createAgent({ name: "helper", provider })], store }),
    authenticate: anyOf([
      internalTokens({ [internalToken]: { user: "service", scope: "system" } }),
      bearerTokens({ "key-of-anne-0123456789": { user: "anne", scope: "garden" } }),
    ]),
    ...accessPolicy({ store }),
  });
  const { url, close } = await listen(server, { port: 0 });
  const slack = await fakeSlack(tokens);
  const folder = mkdtempSync(join(tmpdir(), "slack-kill-"));
  let bot: ChildProcess | undefined;
  const begin = (): ChildProcess => {
    const args = [...sources, "--no-warnings", program, url, slack.url, join(folder, "chat.db")];
    const env = { ...process.env, INTERNAL_TOKEN: internalToken, SLACK_BOT_TOKEN: tokens.botToken, SLACK_APP_TOKEN: tokens.appToken };
    return spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  };
  onTestFinished(async () => {
    bot?.kill("SIGKILL");
    await close();
    await slack.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const words = Array.from({ length: 24 }, (_, index) => `message ${index}`);
  for (const text of words) slack.say({ from: anne, text });
  bot = begin();
  // All of them are acknowledged long before the server has them: what is not taken yet is in the memory of the bot alone.
  await vi.waitFor(() => expect(slack.unacknowledged).toEqual([]), patience);
  await vi.waitFor(() => expect(slack.sent.length).toBeGreaterThan(1), patience);
  const ended = once(bot, "exit");
  bot.kill("SIGKILL");
  await ended;
  bot = begin();
  await vi.waitFor(() => expect(slack.sent.at(-1)?.text).toBe("Read: message 23"), patience);
  const client = createClient({ url, token: "key-of-anne-0123456789" });
  const { sessions } = await client.sessions.list();
  expect(sessions).toHaveLength(1);
  const { messages } = await client.sessions.get(sessions[0]?.id ?? "");
  const inputs = messages.filter(({ message }) => message.role === "user").map(({ message }) => textOf(message));
  expect(inputs).toEqual(words);
  // At most the message that was being sent when the process ended comes twice, and none is missing.
  const answers = slack.sent.map(({ text }) => text).filter((text) => text.startsWith("Read: "));
  const repeated = answers.filter((text, at) => answers.indexOf(text) !== at);
  expect([...new Set(answers)]).toEqual(words.map((text) => `Read: ${text}`));
  expect(repeated.length).toBeLessThanOrEqual(1);
});
