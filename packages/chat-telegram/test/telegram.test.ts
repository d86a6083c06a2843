import { createLinkCode } from "@loopwright/chat-kit";
import { textOf } from "@loopwright/core/protocol";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openTelegram } from "../src/index.ts";
import type { FakePerson } from "../src/testing/index.ts";
import { anne, ben, type Garden, openGarden, token } from "./garden.ts";

let garden: Garden;
beforeAll(async () => {
  garden = await openGarden();
});
afterAll(() => garden.close());

const patience = { timeout: 20_000, interval: 20 };
const textsIn = (chat: number): readonly string[] =>
  garden.telegram.sent.filter((message) => message.chat === chat).map(({ text }) => text);
const until = (condition: () => void | Promise<void>): Promise<void> => vi.waitFor(condition, patience);
const newest = (chat: number): string => textsIn(chat).at(-1) ?? "";

/** A person that is linked by a code and has not written before. */
async function newcomer(id: number, user: "anne" | "ben"): Promise<FakePerson> {
  const person = { id, name: `Person ${id}` };
  const { code } = createLinkCode(garden.memory, { user, scope: "garden" });
  garden.telegram.say({ from: person, text: `/link ${code.toUpperCase()}` });
  await until(() => expect(newest(id)).toContain(`linked to the user ${user}`));
  return person;
}

async function sessionIn(chat: number, from: FakePerson): Promise<string> {
  garden.telegram.say({ from, text: "/session", ...(chat === from.id ? {} : { chat }) });
  await until(() => expect(newest(chat)).toContain("shows the session"));
  return /session ([a-z2-7]{26})/.exec(newest(chat))?.[1] ?? "";
}

describe("a chat of Telegram", () => {
  it("is a session: its messages become inputs, answers come back with their markup, and the bot shows that it writes", async () => {
    garden.telegram.say({ from: anne, text: "good morning" });
    await until(() => expect(textsIn(anne.id)).toContain("You wrote good morning."));
    const answer = garden.telegram.sent.find(({ text }) => text === "You wrote good morning.");
    expect(answer?.entities).toEqual([{ type: "italic", offset: 10, length: 12 }]);
    expect(garden.telegram.actions).toContainEqual({ chat: anne.id, action: "typing" });
    const { messages } = await garden.clientOf("anne").sessions.get(await sessionIn(anne.id, anne));
    expect(messages.map(({ message }) => textOf(message))).toEqual(["good morning", "You wrote *good morning*."]);
  });

  it("does nothing for a person without a link, and takes a code once, within its life, after few wrong ones", async () => {
    const cora = { id: 31, name: "Cora" };
    const dora = { id: 32, name: "Dora" };
    garden.telegram.say({ from: cora, text: "hello" });
    await until(() => expect(newest(cora.id)).toContain("You are not linked"));
    const { code } = createLinkCode(garden.memory, { user: "ben", scope: "garden" });
    garden.telegram.say({ from: cora, text: `/link ${code}` });
    await until(() => expect(newest(cora.id)).toContain("linked to the user ben"));
    garden.telegram.say({ from: dora, text: `/link ${code}` });
    await until(() => expect(newest(dora.id)).toContain("not known, was used before"));
    const old = createLinkCode(garden.memory, { user: "ben", scope: "garden" }, { clock: { now: () => 0 } });
    for (let tries = 0; tries < 4; tries++) garden.telegram.say({ from: dora, text: `/link ${old.code}` });
    const good = createLinkCode(garden.memory, { user: "ben", scope: "garden" });
    garden.telegram.say({ from: dora, text: `/link ${good.code}` });
    await until(() => expect(newest(dora.id)).toContain("too many wrong codes"));
    garden.telegram.say({ from: cora, text: "/unlink" });
    await until(() => expect(newest(cora.id)).toContain("link is removed"));
    garden.telegram.say({ from: cora, text: "hello again" });
    await until(() => expect(newest(cora.id)).toContain("You are not linked"));
    expect((await garden.clientOf("ben").sessions.search("hello")).hits).toEqual([]);
  });

  it("sends a long answer as several messages, and a very long one as its beginning and a file", async () => {
    const person = await newcomer(41, "ben");
    garden.telegram.say({ from: person, text: "long 200" });
    await until(() => expect(newest(41)).toContain("Line 199 of"));
    expect(textsIn(41).filter((text) => text.includes("Line")).length).toBe(2);
    garden.telegram.say({ from: person, text: "long 2000" });
    await until(() => expect(garden.telegram.sent.some(({ chat, file }) => chat === 41 && file?.name === "answer.md")).toBe(true));
    expect(textsIn(41).at(-2)).toMatch(/^Line 0 of[\s\S]+The whole answer is in the file\.$/);
    expect(garden.telegram.sent.at(-1)?.file?.text).toContain("Line **1999** of the answer.");
    expect(garden.telegram.requests.filter(({ status }) => status === 400)).toEqual([]);
  });

  it("asks with buttons before a call that needs approval, shows its arguments, and continues after the decision", async () => {
    const person = await newcomer(51, "ben");
    const unlinked = { id: 52, name: "Unlinked" };
    garden.telegram.say({ from: person, text: "delete it" });
    await until(() => expect(garden.telegram.sent.findLast(({ chat }) => chat === 51)?.buttons).toHaveLength(2));
    expect(newest(51)).toContain('"folder": "/tmp"');
    expect(newest(51)).toContain("It cannot be undone.");
    garden.telegram.press(unlinked, "Allow");
    await until(() => expect(garden.telegram.notices.at(-1)?.text).toContain("You are not linked"));
    garden.telegram.press(person, "Allow");
    await until(() => expect(newest(51)).toBe("The tool answered gone."));
    expect(textsIn(51)).toContain("Allowed by ben: delete_all");
    expect(garden.telegram.sent.filter(({ chat, buttons }) => chat === 51 && buttons.length > 0)).toEqual([]);
  });

  it("stops a run that waits, and begins a new session when it is asked to", async () => {
    const person = await newcomer(61, "ben");
    garden.telegram.say({ from: person, text: "delete it" });
    await until(() => expect(garden.telegram.sent.findLast(({ chat }) => chat === 61)?.buttons).toHaveLength(2));
    const first = await sessionIn(61, person);
    garden.telegram.say({ from: person, text: "/stop" });
    await until(() => expect(textsIn(61)).toContain("The answer was stopped."));
    garden.telegram.say({ from: person, text: "/new" });
    garden.telegram.say({ from: person, text: "and now" });
    await until(() => expect(newest(61)).toBe("You wrote and now."));
    expect(await sessionIn(61, person)).not.toBe(first);
  });

  it("answers in groups only what names it, in topics of their own, with the names of those that write", async () => {
    await newcomer(ben.id, "ben");
    const group = -900;
    const say = (from: FakePerson, text: string, more: { topic?: number; isReply?: boolean } = {}): unknown =>
      garden.telegram.say({ from, text, chat: group, ...more });
    say(anne, "not for the bot");
    say(anne, "/help@other_bot");
    say(anne, "@helper_bot are you there?", { topic: 7 });
    await until(() => expect(newest(group)).toBe("You wrote Anne: are you there?."));
    expect(garden.telegram.sent.at(-1)?.topic).toBe(7);
    say(anne, "here too @helper_bot");
    await until(() => expect(newest(group)).toBe("You wrote Anne: here too."));
    say(ben, "an answer", { isReply: true });
    await until(() => expect(newest(group)).toBe("You wrote Ben the gardener: an answer."));
    expect(textsIn(group)).toHaveLength(3);
    const session = await sessionIn(group, { ...anne });
    expect((await garden.clientOf("anne").sessions.get(session)).sharing).toEqual({ users: { ben: "member" } });
  });

  it("shows what is written on the page, and a session that began elsewhere, in the order of its log", async () => {
    const person = await newcomer(71, "ben");
    const client = garden.clientOf("ben");
    const { sessionId } = await client.sessions.create({ title: "From the page" });
    await client.execute("first", { sessionId }).result();
    garden.telegram.say({ from: person, text: `/open ${sessionId}` });
    await until(() => expect(newest(71)).toBe("You wrote first."));
    garden.telegram.say({ from: person, text: "second" });
    await until(() => expect(newest(71)).toBe("You wrote second."));
    await client.execute("third", { sessionId }).result();
    await until(() => expect(newest(71)).toBe("You wrote third."));
    const { messages } = await client.sessions.get(sessionId);
    expect(messages.map(({ message }) => textOf(message))).toEqual(
      ["first", "second", "third"].flatMap((word) => [word, `You wrote *${word}*.`]),
    );
    const shown = textsIn(71).filter((text) => text.includes("first") || text.includes("second") || text.includes("third"));
    expect(shown).toEqual([
      "From another place:\n\nfirst",
      "You wrote first.",
      "You wrote second.",
      "From another place:\n\nthird",
      "You wrote third.",
    ]);
    garden.telegram.say({ from: person, text: "/open of-another-user" });
    await until(() => expect(newest(71)).toBe("You have no session with this id."));
  });

  it("loses and repeats nothing over a restart, also of what came in between", async () => {
    const person = await newcomer(81, "ben");
    garden.telegram.say({ from: person, text: "before" });
    await until(() => expect(newest(81)).toBe("You wrote before."));
    const session = await sessionIn(81, person);
    await garden.restart();
    garden.telegram.say({ from: person, text: "after" });
    await until(() => expect(newest(81)).toBe("You wrote after."));
    const { messages } = await garden.clientOf("ben").sessions.get(session);
    expect(messages.map(({ message }) => textOf(message))).toEqual(["before", "You wrote *before*.", "after", "You wrote *after*."]);
    expect(textsIn(81).filter((text) => text === "You wrote before.")).toHaveLength(1);
  });

  it("waits as long as Telegram asks after 429, and delivers then", async () => {
    const person = await newcomer(91, "ben");
    const waits: (() => void)[] = [];
    // Only the wait that Telegram asks for is in the hands of the test.
    const after = (ms: number, run: () => void): (() => void) => {
      if (ms === 17_000) {
        waits.push(run);
        return () => {};
      }
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    };
    await garden.restart({ clock: { now: () => Date.now(), after } });
    garden.telegram.limit(17);
    const before = garden.telegram.requests.length;
    garden.telegram.say({ from: person, text: "too fast" });
    await until(() => expect(waits.length).toBeGreaterThan(0));
    await until(async () => expect((await garden.clientOf("ben").sessions.search("You wrote too fast")).hits).toHaveLength(1));
    const refused = (): number => garden.telegram.requests.slice(before).filter(({ status }) => status === 429).length;
    await until(() => expect(refused()).toBe(waits.length));
    expect(textsIn(91)).not.toContain("You wrote too fast.");
    garden.telegram.allow();
    for (const proceed of waits) proceed();
    await until(() => expect(newest(91)).toBe("You wrote too fast."));
    await garden.restart();
  });

  it("leaves a chat that has blocked it, and continues in the others", async () => {
    const person = await newcomer(101, "ben");
    garden.telegram.block(101);
    garden.telegram.say({ from: person, text: "good bye" });
    await until(() => expect(garden.problems.at(-1)).toContain("with 403"));
    garden.telegram.say({ from: anne, text: "still here" });
    await until(() => expect(newest(anne.id)).toBe("You wrote still here."));
  });
});

describe("a bot", () => {
  it("does not start with a wrong token, whose text is in no error", async () => {
    const wrong = "1:wrong-token-wrong-token";
    const opened = openTelegram({
      token: wrong,
      apiRoot: garden.telegram.url,
      memory: garden.memory,
      clientFor: () => garden.clientOf("anne"),
      report: () => {},
    });
    const error: unknown = await opened.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(JSON.stringify([error, String(error), (error as Error).stack])).not.toContain(wrong);
  });

  it("takes updates by a webhook with its secret alone, as JSON, up to 1 MiB", async () => {
    const secret = "a-secret-of-the-webhook";
    const { port } = await garden.restart({ webhook: { url: "https://bots.example/telegram", secret, port: 0 } });
    expect(garden.telegram.webhook).toEqual({ url: "https://bots.example/telegram", secret });
    const post = async (body: string, headers: Record<string, string> = {}): Promise<number> => {
      const all = { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret, ...headers };
      return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers: all, body })).status;
    };
    const update = JSON.stringify(garden.telegram.say({ from: anne, text: "by webhook" }));
    expect(await post(update, { "x-telegram-bot-api-secret-token": "another" })).toBe(401);
    expect(await post(update, { "content-type": "text/plain" })).toBe(415);
    expect(await post("{")).toBe(400);
    expect(await post(`{"update_id":1,"filler":"${"x".repeat(1_100_000)}"}`).catch(() => 413)).toBe(413);
    expect(await post(update)).toBe(200);
    expect(await post(update)).toBe(200);
    await until(() => expect(newest(anne.id)).toBe("You wrote by webhook."));
    expect((await garden.clientOf("anne").sessions.search("by webhook")).hits.length).toBe(1);
    expect(textsIn(anne.id).filter((text) => text === "You wrote by webhook.")).toHaveLength(1);
    expect(JSON.stringify(garden.problems)).not.toContain(token);
    await garden.restart();
  });
});
