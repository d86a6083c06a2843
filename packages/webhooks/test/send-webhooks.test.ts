import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  checkDelivery,
  openWebhookMemory,
  type SendWebhooksOptions,
  sendWebhooks,
  type WebhookMemory,
  type WebhookSender,
} from "../src/index.ts";
import { anne, type Garden, openGarden, openTarget, quickClock, secret, type Target, until } from "./garden.ts";

let garden: Garden;
beforeAll(() => {
  garden = openGarden();
});
afterAll(() => garden.close());

interface Sending {
  readonly target: Target;
  readonly clock: ReturnType<typeof quickClock>;
  readonly problems: string[];
  readonly memory: WebhookMemory;
  start(more?: Partial<SendWebhooksOptions>): WebhookSender;
}

async function sending(path = ":memory:"): Promise<Sending> {
  const target = await openTarget();
  const clock = quickClock();
  const problems: string[] = [];
  const memory = openWebhookMemory(path);
  const senders: WebhookSender[] = [];
  onTestFinished(async () => {
    for (const sender of senders) await sender.close();
    await target.close();
    memory.close();
  });
  return {
    ...{ target, clock, problems, memory },
    start(more = {}) {
      const sender = sendWebhooks({
        webhooks: { pager: { url: target.url, secrets: [secret], principal: anne, events: ["message_end", "run_end"] } },
        policy: { privateOrigins: [target.origin] },
        clientFor: () => garden.client,
        report: (message, cause) => void problems.push(`${message} ${String(cause)}`),
        ...{ memory, clock, random: () => 0 },
        ...more,
      });
      senders.push(sender);
      return sender;
    },
  };
}

/** A run in a session of its own. */
async function run(text: string): Promise<string> {
  const stream = garden.client.execute(text);
  await stream.result();
  return stream.sessionId ?? "";
}

const ofSession = (target: Target, session: string) => target.taken.filter(({ body }) => body.includes(session));
const oneRun = ["message_end", "message_end", "run_end"];

describe("an outgoing webhook", () => {
  it("delivers the events of runs that it asks for, signed, in the order of the log, from its first start on", async () => {
    const earlier = await run("before the webhook");
    const start = Date.now();
    await until(() => expect(Date.now()).toBeGreaterThan(start));
    const { target, clock, start: begin } = await sending();
    begin();
    const session = await run("what happens");
    await until(() => expect(ofSession(target, session).map(({ type }) => type)).toEqual(oneRun));
    for (const { headers, body, id } of ofSession(target, session))
      expect(checkDelivery([secret], { headers, body }, clock.now())).toEqual({ id });
    const [first, second] = ofSession(target, session).map(({ body }) => JSON.parse(body) as { readonly data: { readonly event: object } });
    expect(first?.data.event).toMatchObject({ message: { role: "user" } });
    expect(second?.data.event).toMatchObject({ message: { role: "assistant" } });
    expect(ofSession(target, earlier)).toEqual([]);
  });

  it("delivers what comes behind newer news, once: the write was slow, or the clock of its node is behind", async () => {
    const store = memoryStore();
    const [fast, slow] = [openGarden({ store }), openGarden({ store, behindMs: 120_000 })];
    const { target, memory, start } = await sending();
    memory.write("target:pager", { begun: 0, swept: 0 });
    const sender = start({ clientFor: () => fast.client });
    onTestFinished(async () => {
      await sender.close();
      await Promise.all([fast.close(), slow.close()]);
    });
    await fast.client.execute("now").result();
    await until(() => expect(memory.read("target:pager")).toMatchObject({ swept: expect.toSatisfy((at: number) => at > 0) }));
    const late = slow.client.execute("two minutes behind");
    await late.result();
    await until(() => expect(ofSession(target, late.sessionId ?? "").map(({ type }) => type)).toEqual(oneRun));
    expect(target.taken).toHaveLength(6);
    expect(new Set(target.taken.map(({ id }) => id)).size).toBe(6);
  });

  it("tries again with the same id while the target fails, also after a restart, and repeats nothing that was taken", async () => {
    const folder = mkdtempSync(join(tmpdir(), "webhooks-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "private", "webhooks.db");
    const { target, problems, start } = await sending(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const sender = start();
    const first = await run("first");
    await until(() => expect(ofSession(target, first)).toHaveLength(3));
    target.answer(503);
    const second = await run("second");
    await until(() => expect(target.attempts.length).toBeGreaterThan(5));
    expect(sender.status("pager")).toMatchObject({ state: "failing", reason: "it answered 503" });
    await sender.close();
    const third = await run("third");
    const attempts = target.attempts.length;
    const again = start();
    await until(() => expect(target.attempts.length).toBeGreaterThan(attempts));
    target.answer(200);
    await until(() => expect(ofSession(target, third).map(({ type }) => type)).toEqual(oneRun));
    expect(ofSession(target, second).map(({ type }) => type)).toEqual(oneRun);
    expect(new Set(target.taken.map(({ id }) => id)).size).toBe(target.taken.length);
    const failed = target.attempts.slice(3, attempts);
    expect(new Set(failed.map(({ id }) => id))).toEqual(new Set([ofSession(target, second)[0]?.id]));
    await until(() => expect(again.status("pager")).toEqual({ state: "working" }));
    expect(problems.filter((text) => text.includes("does not take its deliveries"))).toHaveLength(1);
    for (const hidden of [secret, "second", "third"]) expect(problems.join()).not.toContain(hidden);
  });

  it("is disabled after a day of failures with one report, and delivers what it missed when it is enabled, each event once", async () => {
    const { target, problems, start } = await sending();
    const sender = start();
    target.answer(500);
    const session = await run("missed");
    await until(() => expect(sender.status("pager").state).toBe("disabled"));
    const attempts = target.attempts.length;
    expect(problems.filter((text) => text.includes("is disabled"))).toEqual([
      expect.stringMatching(
        /The webhook pager is disabled: it answered 500, at each of \d+ attempts since 20\S+Z\. What it misses is delivered/,
      ),
    ]);
    const later = await run("missed too");
    target.answer(200);
    expect(target.attempts.length).toBe(attempts);
    sender.enable("pager");
    await until(() => expect(ofSession(target, later)).toHaveLength(3));
    expect(ofSession(target, session).map(({ type }) => type)).toEqual(oneRun);
    expect(new Set(target.taken.map(({ id }) => id)).size).toBe(target.taken.length);
  });

  it.each([
    ["an address of this machine", (origin: string) => `${origin}/events`, "blocked_address|port_not_allowed"],
    ["the data of a cloud's machine", () => "http://169.254.169.254/latest/meta-data/", "blocked_address"],
    ["a name of this network", () => "https://pager.internal/", "blocked_address"],
    ["credentials in the address", () => "https://a:b@example.com/", "credentials_in_url"],
    ["another scheme", () => "file:///etc/passwd", "scheme_not_allowed"],
  ])("to %s is disabled at once, without a connection", async (_, urlOf, reason) => {
    const { target, problems, start } = await sending();
    const sender = start({
      webhooks: { pager: { url: urlOf(target.origin), secrets: [secret], principal: anne } },
      policy: {},
    });
    await run("nowhere");
    await until(() => expect(sender.status("pager").state).toBe("disabled"));
    expect(problems).toEqual([expect.stringMatching(new RegExp(`is disabled: its address may not be reached \\((${reason})\\)`))]);
    expect(target.attempts).toEqual([]);
  });

  it("follows no redirect, is disabled at once by 410, and holds back no other webhook", async () => {
    const { target, start } = await sending();
    const other = await openTarget();
    const gone = await openTarget();
    onTestFinished(async () => {
      await other.close();
      await gone.close();
    });
    target.answer(302, { location: other.url });
    gone.answer(410);
    const to = (url: string) => ({ url, secrets: [secret], principal: anne, events: ["run_end"] });
    const sender = start({
      webhooks: { pager: to(target.url), gone: to(gone.url), other: to(other.url) },
      policy: { privateOrigins: [target.origin, other.origin, gone.origin] },
    });
    const session = await run("one of three");
    await until(() => expect(ofSession(other, session)).toHaveLength(1));
    await until(() => expect(sender.status("pager")).toMatchObject({ state: "failing", reason: "it answered 302" }));
    await until(() => expect(sender.status("gone")).toMatchObject({ state: "disabled", reason: "it answered 410, gone" }));
    expect(other.attempts).toHaveLength(1);
    expect(gone.attempts).toHaveLength(1);
  });

  it("tries again at once when it is enabled, however long it would have rested", async () => {
    const { target, start } = await sending();
    const sender = start({ clock: { now: () => Date.now(), after: () => () => {} } });
    target.answer(410);
    const session = await run("while it is gone");
    await until(() => expect(sender.status("pager").state).toBe("disabled"));
    target.answer(200);
    sender.enable("pager");
    await until(() => expect(ofSession(target, session).map(({ type }) => type)).toEqual(oneRun));
  });

  it("holds a session whose event is rejected, delivers the others, and leaves the event out once the target took others meanwhile", async () => {
    const { target, problems, start } = await sending();
    target.answer(({ body }) => (body.includes("too large") && body.includes('"message_end"') ? 413 : 204));
    const sender = start();
    const held = await run("too large for the target");
    await until(() => expect(sender.status("pager").held).toMatchObject([{ sessionId: held, reason: "it answered 413" }]));
    const leftOut = () => problems.filter((text) => text.includes("is left out"));
    // The question and its answer are too large: each waits for a proof that the target takes others.
    for (const count of [1, 2]) {
      const other = await run(`another one after ${count}`);
      await until(() => expect(ofSession(target, other).map(({ type }) => type)).toEqual(oneRun));
      await until(() => expect(leftOut()).toHaveLength(count));
    }
    await until(() => expect(ofSession(target, held).map(({ type }) => type)).toEqual(["run_end"]));
    await until(() => expect(sender.status("pager")).toEqual({ state: "working" }));
    expect(problems.filter((text) => text.includes("is disabled"))).toEqual([]);
    expect(problems.join()).not.toContain("too large");
  });

  it("that rejects all events loses none of them: it is disabled after a day, and gets them when it is enabled", async () => {
    const { target, clock, problems, start } = await sending();
    let passedMs = 0;
    const sender = start({ clock: { ...clock, now: () => clock.now() + passedMs } });
    target.answer(400);
    const sessions = [await run("first"), await run("second")];
    await until(() => expect(sender.status("pager")).toMatchObject({ state: "failing", reason: "it answered 400" }));
    passedMs = 86_400_000;
    await until(() => expect(sender.status("pager")).toMatchObject({ state: "disabled", reason: "it answered 400" }));
    target.answer(204);
    sender.enable("pager");
    for (const session of sessions) await until(() => expect(ofSession(target, session).map(({ type }) => type)).toEqual(oneRun));
    expect(problems.filter((text) => text.includes("is left out"))).toEqual([]);
  });

  it("reports a session whose log cannot be read once, and delivers those of others", async () => {
    const { target, problems, start } = await sending();
    const damaged = await run("damaged");
    const { sessions } = garden.client;
    const events = async (...args: Parameters<typeof sessions.events>) => {
      if (args[0] === damaged) throw new AgentError("SESSION_CORRUPT", { message: "The log is damaged." });
      return sessions.events(...args);
    };
    const client = Object.assign(Object.create(garden.client), { sessions: Object.assign(Object.create(sessions), { events }) });
    const sender = start({ clientFor: () => client });
    const sound = await run("sound");
    await until(() => expect(ofSession(target, sound).map(({ type }) => type)).toEqual(oneRun));
    expect(sender.status("pager")).toMatchObject({ state: "working", held: [{ sessionId: damaged }] });
    expect(problems).toEqual([
      expect.stringMatching(/^The log of session \S+ could not be read for the webhook pager\. It is asked for again\./),
    ]);
  });

  it("reports a server that does not answer once, and continues when it does", async () => {
    const { target, problems, start } = await sending();
    garden.fail("NOT_READY");
    start();
    await until(() => expect(problems.join()).toContain("could not be read. They are asked for again."));
    garden.fail(undefined);
    const session = await run("after the outage");
    await until(() => expect(ofSession(target, session)).toHaveLength(3));
    expect(problems).toHaveLength(1);
  });
});
