import { fakeTelegram } from "@loopwright/chat-telegram/testing";
import { createClient } from "@loopwright/client";
import { textOf } from "@loopwright/core/protocol";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { emptyDirectory, run } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const token = "4200:AAfakefakefakefakefakefakefakefakefa";
const patience = { timeout: 60_000, interval: 50 };

describe("loopwright run --with", () => {
  it("C35, C50: starts a bot of Telegram, also where callers need credentials, and a code of `loopwright link` links a person once", async () => {
    const telegram = await fakeTelegram(token);
    onTestFinished(() => telegram.close());
    const cwd = await emptyDirectory();
    const anne = { id: 11, name: "Anne" };
    const env = {
      TELEGRAM_BOT_TOKEN: token,
      LOOPWRIGHT_TELEGRAM_URL: telegram.url,
      LOOPWRIGHT_INTERNAL_TOKEN: "internal-0123456789abcdef",
    };
    const flags = ["--with", "telegram", "--token", "local-0123456789abcdef"];
    const server = await startServer({ cwd, flags, env });
    telegram.say({ from: anne, text: "what is 6 * 7?" });
    await vi.waitFor(() => expect(telegram.sent.at(-1)?.text).toContain("You are not linked"), patience);
    const { stdout } = await run(["link", "--json"], { cwd });
    const { code } = JSON.parse(stdout) as { readonly code: string };
    telegram.say({ from: anne, text: `/link ${code}` });
    telegram.say({ from: anne, text: "what is 6 * 7?" });
    await vi.waitFor(() => expect(telegram.sent.at(-1)?.text).toContain("42"), patience);
    const client = createClient({ url: server.url, token: "local-0123456789abcdef" });
    const { sessions } = await client.sessions.list();
    const { messages, participants } = await client.sessions.get(sessions[0]?.id ?? "");
    expect(messages.filter(({ message }) => message.role === "user").map(({ message }) => textOf(message))).toEqual(["what is 6 * 7?"]);
    expect([sessions.length, participants?.[0]]).toEqual([1, "local"]);
  });

  it("C35: refuses a channel that there is not, and one without its token, before it listens", async () => {
    const cwd = await emptyDirectory();
    const unknown = await run(["run", "--offline", "--port", "0", "--with", "telegram,pigeons"], { cwd });
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining("`pigeons` is no chat channel.")]);
    const tokenless = await run(["run", "--offline", "--port", "0", "--with", "telegram"], { cwd });
    expect([tokenless.code, tokenless.stderr]).toEqual([3, expect.stringContaining("needs the token of a bot")]);
  });
});
