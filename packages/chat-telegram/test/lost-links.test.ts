import { createLinkCode } from "@loopwright/chat-kit";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { FakePerson } from "../src/testing/index.ts";
import { anne, ben, type Garden, openGarden } from "./garden.ts";

let garden: Garden;
beforeAll(async () => {
  garden = await openGarden();
});
afterAll(() => garden.close());

const patience = { timeout: 20_000, interval: 20 };
const until = (condition: () => void | Promise<void>): Promise<void> => vi.waitFor(condition, patience);
const textsIn = (chat: number): readonly string[] =>
  garden.telegram.sent.filter((message) => message.chat === chat).map(({ text }) => text);
const newest = (chat: number): string => textsIn(chat).at(-1) ?? "";

async function newcomer(id: number, user: "anne" | "ben"): Promise<FakePerson> {
  const person = { id, name: `Person ${id}` };
  garden.telegram.say({ from: person, text: `/link ${createLinkCode(garden.memory, { user, scope: "garden" }).code}` });
  await until(() => expect(newest(id)).toContain(`linked to the user ${user}`));
  return person;
}

async function sessionIn(chat: number, from: FakePerson): Promise<string> {
  garden.telegram.say({ from, text: "/session", chat });
  await until(() => expect(newest(chat)).toContain("shows the session"));
  return /session ([a-z2-7]{26})/.exec(newest(chat))?.[1] ?? "";
}

/** Runs in the session from the page, and waits until a chat that follows the same session has its answer. */
async function writeElsewhere(user: string, session: string, text: string): Promise<void> {
  const witness = await newcomer(900 + garden.telegram.sent.length, "ben");
  garden.telegram.say({ from: witness, text: `/open ${session}` });
  await until(() => expect(textsIn(witness.id).join()).toContain("shows the session"));
  await garden.clientOf(user).execute(text, { sessionId: session }).result();
  await until(() => expect(newest(witness.id)).toBe(`You wrote ${text}.`));
}

/** A client whose requests with this text get this answer. */
function failingClient(user: string, word: string, problem: { readonly status: number; readonly code: string }): LoopwrightClient {
  return createClient({
    url: "http://localhost",
    token: `key-of-${user}`,
    random: () => 0,
    fetch: async (request) => {
      if ((await request.clone().text()).includes(word))
        return Response.json(
          { code: problem.code, detail: "It failed.", fix: "", retryable: problem.status === 429 },
          { status: problem.status },
        );
      return garden.fetch(request);
    },
  });
}

describe("a private chat whose person has lost its link", () => {
  it("gets nothing more of the session, after /unlink, /link to another user, and a change of the list", async () => {
    const person = await newcomer(201, "ben");
    garden.telegram.say({ from: person, text: "first" });
    await until(() => expect(newest(201)).toBe("You wrote first."));
    const session = await sessionIn(201, person);
    const other = await newcomer(202, "ben");
    garden.telegram.say({ from: other, text: `/open ${session}` });
    await until(() => expect(newest(202)).toBe("You wrote first."));
    garden.telegram.say({ from: person, text: "/unlink" });
    await until(() => expect(newest(201)).toContain("link is removed"));
    garden.telegram.say({ from: other, text: `/link ${createLinkCode(garden.memory, { user: "anne", scope: "garden" }).code}` });
    await until(() => expect(newest(202)).toContain("linked to the user anne"));
    await writeElsewhere("ben", session, "a secret");
    garden.telegram.say({ from: anne, text: "of the list" });
    await until(() => expect(newest(anne.id)).toBe("You wrote of the list."));
    const listed = await sessionIn(anne.id, anne);
    await garden.restart({ allow: {} });
    await garden.clientOf("anne").execute("another secret", { sessionId: listed }).result();
    const last = await newcomer(203, "ben");
    garden.telegram.say({ from: last, text: "last" });
    await until(() => expect(newest(203)).toBe("You wrote last."));
    expect([...textsIn(201), ...textsIn(202), ...textsIn(anne.id)].filter((text) => text.includes("secret"))).toEqual([]);
    await garden.restart();
  });

  it("gets nothing more after /unlink in a group either", async () => {
    const person = await newcomer(211, "ben");
    garden.telegram.say({ from: person, text: "first" });
    await until(() => expect(newest(211)).toBe("You wrote first."));
    const session = await sessionIn(211, person);
    garden.telegram.say({ from: person, chat: -211, text: "/unlink" });
    await until(() => expect(newest(-211)).toContain("link is removed"));
    await writeElsewhere("ben", session, "a secret");
    expect(textsIn(211).filter((text) => text.includes("secret"))).toEqual([]);
  });
});

it("a group keeps its session when the server refuses it to one of its people", async () => {
  await newcomer(ben.id, "ben");
  garden.telegram.say({ from: anne, chat: -220, text: "@helper_bot first" });
  await until(() => expect(newest(-220)).toBe("You wrote Anne: first."));
  const session = await sessionIn(-220, anne);
  garden.telegram.say({ from: ben, chat: -220, text: "/stop" });
  await until(() => expect(newest(-220)).toContain("This was not taken"));
  expect(await sessionIn(-220, anne)).toBe(session);
  garden.telegram.say({ from: ben, chat: -220, text: "@helper_bot second" });
  await until(() => expect(newest(-220)).toContain("second."));
  await garden.clientOf("anne").sessions.share(session, { users: {} });
  garden.telegram.say({ from: ben, chat: -220, text: "@helper_bot third" });
  await until(() => expect(newest(-220)).toContain("This was not taken"));
  garden.telegram.say({ from: ben, chat: -220, text: "@helper_bot fourth" });
  await until(() => expect(newest(-220)).toContain("fourth."));
  expect(await sessionIn(-220, anne)).toBe(session);
});

describe("other chats continue", () => {
  it("while the server fails a message, or limits its user: the person learns of it, and the update is confirmed", async () => {
    const person = await newcomer(231, "ben");
    for (const [problem, answer] of [
      [{ status: 500, code: "SESSION_CORRUPT" }, "This was not taken: It failed."],
      [{ status: 429, code: "RUN_LIMIT" }, "There are too many requests. Try again later."],
    ] as const) {
      await garden.restart({ clientFor: ({ user }) => failingClient(user, "poison", problem) });
      garden.telegram.say({ from: person, text: "poison" });
      garden.telegram.say({ from: anne, text: `after ${problem.code}` });
      await until(() => expect(newest(231)).toBe(answer));
      await until(() => expect(newest(anne.id)).toBe(`You wrote after ${problem.code}.`));
      await until(() => expect(garden.telegram.unconfirmed).toEqual([]));
    }
    await garden.restart();
  });

  it("while Telegram limits one chat, also where the bot answers a person without a link there", async () => {
    const unlinked = { id: 241, name: "Unlinked" };
    const never = (ms: number, run: () => void): (() => void) => {
      const timer = ms === 17_000 ? undefined : setTimeout(run, ms);
      return () => clearTimeout(timer);
    };
    await garden.restart({ clock: { now: () => Date.now(), after: never } });
    garden.telegram.limit(17, unlinked.id);
    garden.telegram.say({ from: unlinked, text: "hello" });
    garden.telegram.say({ from: anne, text: "not limited" });
    await until(() => expect(newest(anne.id)).toBe("You wrote not limited."));
    expect(garden.telegram.requests.filter(({ status }) => status === 429)).toHaveLength(1);
    garden.telegram.allow();
    await garden.restart();
  });

  it("and a person without a link gets the same answer once an hour", async () => {
    const unlinked = { id: 251, name: "Unlinked" };
    let now = 0;
    const after = (ms: number, run: () => void): (() => void) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    };
    await garden.restart({ clock: { now: () => now, after } });
    for (const text of ["hello", "hello?", "/help"]) garden.telegram.say({ from: unlinked, text });
    await until(() => expect(garden.telegram.unconfirmed).toEqual([]));
    await until(() => expect(textsIn(251)).toHaveLength(1));
    now = 3_600_000;
    garden.telegram.say({ from: unlinked, text: "and now?" });
    await until(() => expect(textsIn(251)).toHaveLength(2));
    await garden.restart();
  });
});

it("a start that fails leaves nothing at work, so that answers come once after the next one", async () => {
  const person = await newcomer(261, "ben");
  garden.telegram.say({ from: person, text: "first" });
  await until(() => expect(newest(261)).toBe("You wrote first."));
  const session = await sessionIn(261, person);
  const webhook = { url: "http://bots.example", secret: "a-secret", port: 0 };
  await expect(garden.restart({ webhook })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  await garden.restart();
  for (const text of ["second", "third"]) await garden.clientOf("ben").execute(text, { sessionId: session }).result();
  await until(() => expect(newest(261)).toBe("You wrote third."));
  expect(textsIn(261).filter((text) => text === "You wrote second.")).toHaveLength(1);
});
