import { fakeSlack } from "@loopwright/chat-slack/testing";
import { fakeTelegram } from "@loopwright/chat-telegram/testing";
import { applyEvents, createClient, type SessionView, viewOf } from "@loopwright/client";
import { textOf } from "@loopwright/core/protocol";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { emptyDirectory, run } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const token = "4200:AAfakefakefakefakefakefakefakefakefa";
const slackTokens = { botToken: "xoxb-fakefakefake", appToken: "xapp-fakefakefake" };
const patience = { timeout: 60_000, interval: 50 };

/** Letters and digits: what the markup of each vendor leaves as it was. */
const wordsOf = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, "");

describe("loopwright run --with", () => {
  it("C35, C50: starts bots of Slack and Telegram, also where callers need credentials, and a code of `loopwright link` links a person once", async () => {
    const telegram = await fakeTelegram(token);
    const slack = await fakeSlack(slackTokens);
    onTestFinished(async () => {
      await telegram.close();
      await slack.close();
    });
    const cwd = await emptyDirectory();
    const anne = { id: 11, name: "Anne" };
    const annes = { id: "U11", name: "Anne" };
    const env = {
      ...{ TELEGRAM_BOT_TOKEN: token, SLACK_BOT_TOKEN: slackTokens.botToken, SLACK_APP_TOKEN: slackTokens.appToken },
      ...{ LOOPWRIGHT_TELEGRAM_URL: telegram.url, LOOPWRIGHT_SLACK_URL: slack.url },
      LOOPWRIGHT_INTERNAL_TOKEN: "internal-0123456789abcdef",
    };
    const flags = ["--with", "slack,telegram", "--token", "local-0123456789abcdef"];
    const server = await startServer({ cwd, flags, env });
    const codeOf = async (): Promise<string> => {
      const { stdout } = await run(["link", "--json"], { cwd });
      return (JSON.parse(stdout) as { readonly code: string }).code;
    };
    telegram.say({ from: anne, text: "what is 6 * 7?" });
    slack.say({ from: annes, text: "what is 6 * 7?" });
    await vi.waitFor(() => expect(telegram.sent.at(-1)?.text).toContain("You are not linked"), patience);
    await vi.waitFor(() => expect(slack.sent.at(-1)?.text).toContain("You are not linked"), patience);
    telegram.say({ from: anne, text: `/link ${await codeOf()}` });
    telegram.say({ from: anne, text: "what is 6 * 7?" });
    slack.say({ from: annes, text: `!link ${await codeOf()}` });
    slack.say({ from: annes, text: "what is 6 * 8?" });
    await vi.waitFor(() => expect(telegram.sent.at(-1)?.text).toContain("42"), patience);
    await vi.waitFor(() => expect(slack.sent.at(-1)?.text).toContain("48"), patience);
    const client = createClient({ url: server.url, token: "local-0123456789abcdef" });
    const { sessions } = await client.sessions.list();
    const inputs: string[] = [];
    for (const { id } of sessions) {
      const { messages, participants } = await client.sessions.get(id);
      inputs.push(...messages.filter(({ message }) => message.role === "user").map(({ message }) => textOf(message)));
      expect(participants?.[0]).toBe("local");
    }
    expect(inputs.sort()).toEqual(["what is 6 * 7?", "what is 6 * 8?"]);
  });

  it("shows one session in Slack, in Telegram, on the page and in the terminal with the same messages in the same order", async () => {
    const telegram = await fakeTelegram(token);
    const slack = await fakeSlack(slackTokens);
    onTestFinished(async () => {
      await telegram.close();
      await slack.close();
    });
    const cwd = await emptyDirectory();
    const env = {
      ...{ TELEGRAM_BOT_TOKEN: token, SLACK_BOT_TOKEN: slackTokens.botToken, SLACK_APP_TOKEN: slackTokens.appToken },
      ...{ LOOPWRIGHT_TELEGRAM_URL: telegram.url, LOOPWRIGHT_SLACK_URL: slack.url, LOOPWRIGHT_OFFLINE_PACE: "0" },
      ...{ LOOPWRIGHT_TELEGRAM_ALLOW: "11", LOOPWRIGHT_SLACK_ALLOW: "U11" },
    };
    const { url, client } = await startServer({ cwd, flags: ["--with", "slack,telegram"], env });
    const inSlack = (): readonly string[] => slack.sent.map(({ text }) => text);
    const inTelegram = (): readonly string[] => telegram.sent.map(({ text }) => text);
    slack.say({ from: { id: "U11", name: "Anne" }, text: "what is 6 * 7?" });
    await vi.waitFor(() => expect(inSlack().join()).toContain("says: 42"), patience);
    const [{ id } = { id: "" }] = (await client.sessions.list()).sessions;
    telegram.say({ from: { id: 11, name: "Anne" }, text: `/open ${id}` });
    await vi.waitFor(() => expect(inTelegram().join()).toContain("says: 42"), patience);
    const leaving = new AbortController();
    let page: SessionView | undefined;
    const shown = (async () => {
      for await (const batch of client.follow(id, { signal: leaving.signal }))
        for (const event of batch) {
          if (event.type === "session_snapshot") page = viewOf(event.snapshot);
          else if (page && ("seq" in event || "lane" in event)) page = applyEvents(page, [event]);
        }
    })();
    await client.execute("what is 6 * 8?", { sessionId: id }).result();
    const terminal = await run(["ask", "--session", id, "--url", url, "what is 6 * 9?"], { cwd });
    expect(terminal.stdout).toContain("54");
    telegram.say({ from: { id: 11, name: "Anne" }, text: "what is 7 * 7?" });
    await vi.waitFor(() => expect(inSlack().join()).toContain("says: 49"), patience);
    await vi.waitFor(() => expect(inTelegram().join()).toContain("says: 49"), patience);
    await vi.waitFor(() => expect(page?.run).toBeUndefined(), patience);
    const { messages } = await client.sessions.get(id);
    await vi.waitFor(() => expect(page?.path).toHaveLength(messages.length), patience);
    leaving.abort();
    await shown;
    const logged = messages.filter(({ message }) => message.role !== "tool_result" && textOf(message) !== "").map(({ message }) => message);
    expect(logged.filter(({ role }) => role === "user").map(textOf)).toEqual(
      ["6 * 7", "6 * 8", "6 * 9", "7 * 7"].map((product) => `what is ${product}?`),
    );
    expect(page?.path.map(({ message }) => message)).toEqual(messages.map(({ message }) => message));
    // A chat shows the words of other places beside the answers; its own are there already.
    const expected = (own: string): readonly string[] =>
      logged
        .map(textOf)
        .filter((text) => text !== own)
        .map(wordsOf);
    const seen = (texts: readonly string[]): readonly string[] =>
      texts.filter((text) => !text.includes("shows the session")).map((text) => wordsOf(text.replace("From another place:", "")));
    expect(seen(inSlack())).toEqual(expected("what is 6 * 7?"));
    expect(seen(inTelegram())).toEqual(expected("what is 7 * 7?"));
  });

  it("C35: refuses a channel that there is not, and one without its token, before it listens", async () => {
    const cwd = await emptyDirectory();
    const unknown = await run(["run", "--offline", "--port", "0", "--with", "telegram,pigeons"], { cwd });
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining("`pigeons` is no chat channel.")]);
    const tokenless = await run(["run", "--offline", "--port", "0", "--with", "telegram"], { cwd });
    expect([tokenless.code, tokenless.stderr]).toEqual([3, expect.stringContaining("needs TELEGRAM_BOT_TOKEN")]);
    const halfKnown = await run(["run", "--offline", "--port", "0", "--with", "slack"], { cwd, env: { SLACK_BOT_TOKEN: "xoxb-1" } });
    expect([halfKnown.code, halfKnown.stderr]).toEqual([3, expect.stringContaining("needs SLACK_APP_TOKEN")]);
  });
});
