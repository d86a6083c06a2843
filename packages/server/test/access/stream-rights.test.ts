import { AgentError } from "@loopwright/core";
import { manualClock } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { testServer } from "../test-server.ts";
import { accessScene, as, turn } from "./access-scene.ts";

const ended = (reason: string): string => `event: stream_ended\ndata: {"type":"stream_ended","reason":"${reason}"}\n\n`;

/** The stream that is open, read to its end. */
function reading(response: Response): { readonly text: Promise<string> } {
  return { text: response.text() };
}

describe("credentials that end", () => {
  it("T07: end an open stream at that moment with a frame that gives the reason, and requests are refused from then on", async () => {
    const scene = accessScene({ anne: { scope: "garden" } }, {});
    const { clock } = scene;
    const expiring = accessScene({ anne: { scope: "garden", expiresAt: clock.now() + 90_000 } }, { clock });
    await expiring.send("/api/sessions", { json: { id: "a" }, headers: as("anne") });
    const streams = ["/api/sessions/a/events?from=now", "/api/notifications?session=a"];
    const open = await Promise.all(streams.map(async (path) => reading(await expiring.send(path, { headers: as("anne") }))));
    await clock.advance(89_999);
    await turn();
    expect((await expiring.send("/api/sessions", { headers: as("anne") })).status).toBe(200);
    await clock.advance(1);
    for (const { text } of open) expect((await text).endsWith(ended("credentials_expired"))).toBe(true);
    expect(await expiring.refused("/api/sessions", { headers: as("anne") })).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
  });

  it("T07: leave a run that they have begun alone: it goes to its end, and its caller reads it after a new sign-in", async () => {
    const clock = manualClock();
    const expiresAt = clock.now() + 1_000;
    const { send, ask } = accessScene({ anne: { scope: "garden", expiresAt }, again: { scope: "garden" } }, { clock });
    await send("/api/sessions", { json: { id: "a" }, headers: as("anne") });
    await send("/api/sessions/a/messages", { json: { input: "Hi" }, headers: as("anne") });
    await clock.advance(1_000);
    await (await send("/api/sessions/a/events", { headers: as("again") })).text();
    expect((await ask("/api/sessions/a", { headers: as("again") })).body).toMatchObject({ lastRun: { status: "completed" } });
  });
});

describe("an end of credentials that changes", () => {
  it("counts for open streams from the next check on: one that is later keeps them open, one that is sooner ends them sooner", async () => {
    const clock = manualClock();
    const start = clock.now();
    let expiresAt = start + 90_000;
    const { send, server } = testServer({ clock, authenticate: () => ({ user: "anne", scope: "garden", expiresAt }) });
    const stream = reading(await send("/api/notifications"));
    let isOver = false;
    void stream.text.then(() => {
      isOver = true;
    });
    const pass = async (ms: number): Promise<void> => {
      await clock.advance(ms);
      await turn();
    };
    expiresAt = start + 200_000;
    await pass(60_000);
    await pass(50_000);
    expect(isOver).toBe(false);
    expiresAt = start + 130_000;
    await pass(10_000);
    await pass(9_999);
    expect(isOver).toBe(false);
    await pass(1);
    expect((await stream.text).endsWith(ended("credentials_expired"))).toBe(true);
    await server.close();
  });
});

describe("a right that is taken away", () => {
  it("hides sessions from an open stream of notifications once its reader has another role, and shows what it may see by then", async () => {
    const clock = manualClock();
    let roles = ["admin"];
    const { send, server } = testServer({
      clock,
      authenticate: () => ({ user: "anne", scope: "garden", roles }),
      maySee: ({ roles: now }, { id }) => now?.includes("admin") === true || id === "open",
    });
    for (const id of ["hidden", "open"]) await send("/api/sessions", { json: { id } });
    const stream = reading(await send("/api/notifications"));
    const move = async (): Promise<void> => {
      for (const id of ["hidden", "open"]) await send(`/api/sessions/${id}`, { method: "PATCH", json: { title: `at ${clock.now()}` } });
      for (let at = 0; at < 5; at++) await turn();
    };
    await move();
    roles = ["member"];
    await clock.advance(60_000);
    await turn();
    await move();
    await server.close();
    const hints = [...(await stream.text).matchAll(/"session_hint","sessionId":"(\w+)"/g)].map(([, id]) => id);
    expect(hints).toEqual(["hidden", "open", "open"]);
  });

  it("T06: ends the open streams of a user whose team has changed at the next check, and no event comes after", async () => {
    const clock = manualClock();
    let scope = "garden";
    const { send, server } = testServer({ clock, authenticate: () => ({ user: "anne", scope }) });
    const stream = reading(await send("/api/notifications"));
    scope = "kitchen";
    await clock.advance(60_000);
    await turn();
    server.notify("garden", { type: "job_progress", data: { canary: true } });
    expect((await stream.text).endsWith(ended("access_ended"))).toBe(true);
    await server.close();
  });

  it("ends the streams of a user that has lost the role that permitted them", async () => {
    const clock = manualClock();
    let roles = ["admin"];
    const { send, server } = testServer({
      clock,
      authenticate: () => ({ user: "anne", scope: "garden", roles }),
      authorize: (principal, action) => action !== "session.follow" || principal.roles?.includes("admin") === true,
    });
    await send("/api/sessions", { json: { id: "a" } });
    const followed = reading(await send("/api/sessions/a/events?from=now"));
    roles = ["member"];
    await clock.advance(60_000);
    await turn();
    expect((await followed.text).endsWith(ended("access_ended"))).toBe(true);
    await server.close();
  });

  it("ends the streams of a token that was revoked, and of a session that `authorize` does not permit any more", async () => {
    const clock = manualClock();
    let isKnown = true;
    let mayFollow = true;
    const { send, server } = testServer({
      clock,
      authenticate: () => (isKnown ? { user: "anne", scope: "garden" } : undefined),
      authorize: (_, action) => action !== "session.follow" || mayFollow,
    });
    await send("/api/sessions", { json: { id: "a" } });
    const [notified, followed] = [reading(await send("/api/notifications")), reading(await send("/api/sessions/a/events?from=now"))];
    mayFollow = false;
    await clock.advance(60_000);
    await turn();
    expect((await followed.text).endsWith(ended("access_ended"))).toBe(true);
    isKnown = false;
    await clock.advance(60_000);
    await turn();
    expect((await notified.text).endsWith(ended("access_ended"))).toBe(true);
    await server.close();
  });

  it("is not concluded from one check without a verdict, but from two in a row", async () => {
    const clock = manualClock();
    let isDown = false;
    const { send, server } = testServer({
      clock,
      authenticate() {
        if (isDown) throw new AgentError("NOT_READY", { message: "The directory is down." });
        return { user: "anne", scope: "garden" };
      },
    });
    const stream = reading(await send("/api/notifications"));
    let isOver = false;
    void stream.text.then(() => {
      isOver = true;
    });
    const minute = async (down: boolean): Promise<void> => {
      isDown = down;
      await clock.advance(60_000);
      await turn();
    };
    for (const down of [true, false, true]) await minute(down);
    expect(isOver).toBe(false);
    await minute(true);
    expect((await stream.text).endsWith(ended("access_ended"))).toBe(true);
    await server.close();
  });

  it("has no effect on the length of a stream that may be read: it ends at its age, without a last frame", async () => {
    const clock = manualClock();
    const { send, server } = testServer({ clock, authenticate: () => ({ user: "anne", scope: "garden", expiresAt: 10 ** 14 }) });
    const stream = reading(await send("/api/notifications"));
    for (let minute = 0; minute < 20; minute++) {
      await clock.advance(60_000);
      await turn();
    }
    expect(await stream.text).not.toContain("stream_ended");
    await server.close();
  });
});
