import { createLinkCode } from "@loopwright/chat-kit";
import { createClient } from "@loopwright/client";
import { textOf } from "@loopwright/core/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSlack } from "../src/index.ts";
import type { SlackPerson } from "../src/testing/index.ts";
import { anne, ben, type Garden, openGarden, tokens, until } from "./garden.ts";

let garden: Garden;
beforeAll(async () => {
  garden = await openGarden();
});
afterAll(() => garden.close());

async function sessionIn(from: SlackPerson, channel = `D${from.id}`, thread?: string): Promise<string> {
  const text = channel.startsWith("D") ? "!session" : "<@UBOT> !session";
  garden.slack.say({ from, text, channel, ...(thread === undefined ? {} : { thread }) });
  await until(() => expect(garden.newest(channel, thread)).toContain("shows the session"));
  return /session ([a-z2-7]{26})/.exec(garden.newest(channel, thread))?.[1] ?? "";
}

const isQuick = (ms: number): boolean => ms === 2_000;

/** The system's clock, on which the waits that `isQuick` names pass at once. */
const quickClock = {
  now: () => Date.now(),
  after(ms: number, run: () => void): () => void {
    const timer = setTimeout(run, isQuick(ms) ? 0 : ms);
    return () => clearTimeout(timer);
  },
};

describe("a chat of Slack", () => {
  it("is a session: its messages become inputs, answers come back with their markup, and a reaction shows that the message has arrived", async () => {
    const ts = garden.slack.say({ from: anne, text: "good morning &amp; &lt;hello&gt; <https://example.org/a|page>" });
    await until(() => expect(garden.textsIn("DU11")).toContain("You wrote good morning & <hello> page."));
    const answer = garden.slack.sent.find(({ text }) => text.startsWith("You wrote good"));
    expect(JSON.stringify(answer?.blocks)).toContain('"style":{"italic":true}');
    await until(() => expect(garden.slack.reactions).toContainEqual({ channel: "DU11", ts, name: "eyes" }));
    const { messages } = await garden.clientOf("anne").sessions.get(await sessionIn(anne));
    expect(messages.map(({ message }) => textOf(message))[0]).toBe("good morning & <hello> [page](https://example.org/a)");
    expect(messages).toHaveLength(2);
  });

  it("does nothing for a person without a link, and takes a code once, in a direct message alone", async () => {
    const cora = { id: "U31", name: "Cora" };
    garden.slack.say({ from: cora, text: "hello" });
    await until(() => expect(garden.newest("DU31")).toContain("send me !link and the code"));
    const { code } = createLinkCode(garden.memory, { user: "ben", scope: "garden" });
    const root = garden.slack.say({ from: cora, channel: "C1", text: `<@UBOT> !link ${code}` });
    await until(() => expect(garden.newest("C1", root)).toContain("Send me the code in a private chat"));
    garden.slack.say({ from: cora, text: `!link ${code}` });
    await until(() => expect(garden.newest("DU31")).toContain("linked to the user ben"));
    garden.slack.say({ from: { id: "U32", name: "Dora" }, text: `!link ${code}` });
    await until(() => expect(garden.newest("DU32")).toContain("not known, was used before"));
    garden.slack.say({ from: cora, text: "!unlink" });
    await until(() => expect(garden.newest("DU31")).toContain("link is removed"));
    expect((await garden.clientOf("ben").sessions.search("hello")).hits).toEqual([]);
  });

  it("answers in channels what names it, in the thread of the message, and continues threads in which it was named", async () => {
    await garden.newcomer(ben.id, "ben", ben.name);
    garden.slack.say({ from: anne, channel: "C2", text: "not for the bot" });
    const other = garden.slack.say({ from: anne, channel: "C2", text: "another topic" });
    garden.slack.say({ from: anne, channel: "C2", thread: other, text: "not for the bot either" });
    const root = garden.slack.say({ from: anne, channel: "C2", text: "<@UBOT> are you there, <@U12>?" });
    await until(() => expect(garden.newest("C2", root)).toBe("You wrote Anne: are you there, @Ben: the gardener?."));
    garden.slack.say({ from: ben, channel: "C2", thread: root, text: "I am too" });
    await until(() => expect(garden.newest("C2", root)).toBe("You wrote Ben the gardener: I am too."));
    garden.slack.say({ from: ben, channel: "C2", thread: root, text: "<@U11> not for the bot" });
    garden.slack.say({ from: { id: "U99", name: "Robot" }, app: "B99", channel: "C2", text: "<@UBOT> from an app" });
    const session = await sessionIn(anne, "C2", root);
    const { sharing, messages } = await garden.clientOf("anne").sessions.get(session);
    expect(sharing).toEqual({ users: { ben: "member" } });
    expect(messages.filter(({ message }) => message.role === "user")).toHaveLength(2);
    expect(garden.slack.sent.filter(({ channel }) => channel === "C2").every(({ thread }) => thread === root)).toBe(true);
  });

  it("sends a long answer as several messages, and a very long one as its beginning and a file", async () => {
    const person = await garden.newcomer("U41", "ben");
    garden.slack.say({ from: person, text: "long 200" });
    await until(() => expect(garden.newest("DU41")).toContain("Line 199 of"));
    expect(garden.textsIn("DU41").filter((text) => text.includes("Line"))).toHaveLength(2);
    const root = garden.slack.say({ from: person, channel: "C4", text: "<@UBOT> long 2000" });
    await until(() => expect(garden.slack.sent.some(({ thread, file }) => thread === root && file?.name === "answer.md")).toBe(true));
    expect(garden.textsIn("C4", root).at(-2)).toMatch(/^Line 0 of[\s\S]+The whole answer is in the file\.$/);
    expect(garden.slack.sent.at(-1)?.file?.text).toContain("Line **1999** of the answer.");
    expect(garden.slack.requests.filter(({ outcome }) => outcome !== "ok")).toEqual([]);
  });

  it("shows what is streamed of an answer in a message that the answer takes the place of", async () => {
    await garden.restart({ clock: quickClock });
    const person = await garden.newcomer("U45", "ben");
    const release = garden.hold();
    garden.slack.say({ from: person, text: "slowly" });
    await until(() => expect(garden.newest("DU45")).toBe("You wrote\n\n…"));
    release();
    await until(() => expect(garden.newest("DU45")).toBe("You wrote slowly."));
    expect(garden.textsIn("DU45")).toHaveLength(2);
    const again = garden.hold();
    garden.slack.say({ from: person, text: "once more" });
    await until(() => expect(garden.newest("DU45")).toBe("You wrote\n\n…"));
    garden.slack.remove(garden.sentIn("DU45").at(-1)?.ts ?? "");
    again();
    await until(() => expect(garden.newest("DU45")).toBe("You wrote once more."));
    await garden.restart();
  });

  it("asks with buttons before a call that needs approval, and continues after the decision of a person that may decide", async () => {
    const person = await garden.newcomer("U51", "ben");
    garden.slack.say({ from: person, text: "delete it" });
    await until(() =>
      expect(
        garden
          .sentIn("DU51")
          .at(-1)
          ?.buttons.map(({ label }) => label),
      ).toEqual(["Allow", "Deny"]),
    );
    expect(garden.newest("DU51")).toContain('"folder": "/tmp"');
    expect(garden.newest("DU51")).toContain("It cannot be undone.");
    garden.slack.press({ id: "U52", name: "Unlinked" }, "Allow");
    await until(() => expect(garden.slack.whispers.at(-1)?.text).toContain("You are not linked"));
    garden.slack.press(person, "Allow");
    await until(() => expect(garden.newest("DU51")).toBe("The tool answered gone."));
    expect(garden.textsIn("DU51")).toContain("Allowed by ben: delete_all");
    expect(garden.slack.sent.filter(({ buttons }) => buttons.length > 0)).toEqual([]);
    await until(() => expect(garden.slack.whispers.at(-1)).toEqual({ channel: "DU51", user: "U51", text: "Allowed." }));
    expect(garden.slack.unacknowledged).toEqual([]);
  });

  it("stops a run that waits, and begins a new session when it is asked to", async () => {
    const person = await garden.newcomer("U61", "ben");
    garden.slack.say({ from: person, text: "delete it" });
    await until(() => expect(garden.sentIn("DU61").at(-1)?.buttons).toHaveLength(2));
    const first = await sessionIn(person);
    garden.slack.say({ from: person, text: "!stop" });
    await until(() => expect(garden.textsIn("DU61")).toContain("The answer was stopped."));
    garden.slack.say({ from: person, text: "!new" });
    garden.slack.say({ from: person, text: "and now" });
    await until(() => expect(garden.newest("DU61")).toBe("You wrote and now."));
    expect(await sessionIn(person)).not.toBe(first);
  });
});

describe("what Slack delivers", () => {
  it("is acknowledged and taken once, also where the acknowledgement is lost, after another session has begun and after a restart", async () => {
    const person = await garden.newcomer("U71", "ben");
    garden.slack.loseAcks(true);
    garden.slack.say({ from: person, text: "only once" });
    await until(() => expect(garden.newest("DU71")).toBe("You wrote only once."));
    expect(garden.slack.unacknowledged).toHaveLength(1);
    garden.slack.loseAcks(false);
    garden.slack.redeliver();
    garden.slack.say({ from: person, text: "!new" });
    await until(() => expect(garden.newest("DU71")).toContain("begins a new session"));
    await garden.restart();
    // The first delivery was never acknowledged: with a new connection it comes again.
    await until(() => expect(garden.slack.unacknowledged).toEqual([]));
    garden.slack.say({ from: person, text: "the end" });
    await until(() => expect(garden.newest("DU71")).toBe("You wrote the end."));
    expect(garden.textsIn("DU71").filter((text) => text.includes("only once"))).toHaveLength(1);
    expect((await garden.clientOf("ben").sessions.search("only once")).hits).toHaveLength(1);
  });

  it("is acknowledged while the server does not answer, and taken after a restart", async () => {
    const person = await garden.newcomer("U72", "ben");
    let asked = 0;
    const fetch = async (): Promise<Response> => {
      asked++;
      return Response.json({ code: "NOT_READY", detail: "Later.", fix: "", retryable: true }, { status: 503 });
    };
    await garden.restart({ clientFor: () => createClient({ url: "http://localhost", fetch, random: () => 0 }) });
    for (const text of ["first", "second"]) garden.slack.say({ from: person, text });
    await until(() => expect(asked).toBeGreaterThan(0));
    await until(() => expect(garden.slack.unacknowledged).toEqual([]));
    await garden.restart();
    await until(() => expect(garden.newest("DU72")).toBe("You wrote second."));
    expect(garden.textsIn("DU72").slice(-2)).toEqual(["You wrote first.", "You wrote second."]);
  });

  it("comes over the next connection when Slack asks for one, and when the connection breaks", async () => {
    const person = await garden.newcomer("U73", "ben");
    for (const [end, text] of [
      [garden.slack.refresh, "after a refresh"],
      [garden.slack.cut, "after a break"],
    ] as const) {
      const before = garden.slack.connections;
      end();
      await until(() => expect(garden.slack.connections).toBe(before + 1));
      garden.slack.say({ from: person, text });
      await until(() => expect(garden.newest("DU73")).toBe(`You wrote ${text}.`));
    }
    garden.slack.fail(503);
    garden.slack.cut();
    await until(() => expect(garden.problems.join()).toContain("The connection to Slack could not be made. It is tried again."));
    garden.slack.say({ from: person, text: "after an outage" });
    garden.slack.allow();
    await until(() => expect(garden.newest("DU73")).toBe("You wrote after an outage."));
  });
});

describe("what Slack refuses", () => {
  it("with 429 is sent again when the time has passed that Slack asks for", async () => {
    const person = await garden.newcomer("U81", "ben");
    const waits: (() => void)[] = [];
    const after = (ms: number, run: () => void): (() => void) => {
      if (ms !== 17_000) return quickClock.after(ms, run);
      waits.push(run);
      return () => {};
    };
    await garden.restart({ clock: { now: () => Date.now(), after } });
    garden.slack.limit("chat.postMessage", 17);
    garden.slack.say({ from: person, text: "too fast" });
    await until(() => expect(waits.length).toBeGreaterThan(0));
    await until(async () => expect((await garden.clientOf("ben").sessions.search("You wrote too fast")).hits).toHaveLength(1));
    expect(garden.textsIn("DU81")).not.toContain("You wrote too fast.");
    garden.slack.allow();
    const proceed = setInterval(() => {
      for (const run of waits.splice(0)) run();
    }, 5);
    await until(() => expect(garden.newest("DU81")).toBe("You wrote too fast.")).finally(() => clearInterval(proceed));
    await garden.restart();
  });

  it("in one channel holds back no other one", async () => {
    const person = await garden.newcomer("U82", "ben");
    garden.slack.say({ from: anne, channel: "C8", text: "here" });
    garden.slack.archive("C8");
    garden.slack.say({ from: anne, channel: "C8", text: "<@UBOT> good bye" });
    await until(() => expect(garden.problems.join()).toContain("is_archived"));
    garden.slack.say({ from: person, text: "still here" });
    await until(() => expect(garden.newest("DU82")).toBe("You wrote still here."));
  });
});

describe("an app", () => {
  it.each([
    ["botToken", "xoxb-wrong-wrong-wrong"],
    ["appToken", "xapp-wrong-wrong-wrong"],
    ["appToken", tokens.botToken],
  ] as const)("does not start with a wrong %s, whose text is in no error", async (name, wrong) => {
    const parts = { apiUrl: garden.slack.url, memory: garden.memory, clientFor: () => garden.clientOf("anne"), report: () => {} };
    const error: unknown = await openSlack({ ...tokens, ...parts, [name]: wrong }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(JSON.stringify([error, String(error), (error as Error).stack])).not.toContain(wrong);
  });

  it("has no secret and no words of people in its reports", () => {
    const reports = garden.problems.join("\n");
    for (const secret of [...Object.values(tokens), "You wrote", "delete it", "good bye"]) expect(reports).not.toContain(secret);
  });
});
