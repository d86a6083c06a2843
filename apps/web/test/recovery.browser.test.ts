import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@loopwright/client";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { chatPage, openedSession } from "./support/chat-page.ts";
import { cuttingProxy } from "./support/cutting-proxy.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";
import { runProgram } from "./support/run-program.ts";
import { keptTranscript, shownTranscript } from "./support/transcript.ts";

/** The browser's message about requests that found no server. */
const unreachable = /Failed to load resource: net::ERR_/;

const lost = (page: Page): ReturnType<Page["getByText"]> => page.getByText("Connection lost.");

pageTest("a reload in the middle of an answer shows what was written and goes on", async ({ serve, open }) => {
  const model = handModel();
  const { url, client } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Tell me");
  const answer = await model.next();
  answer.think("Hm.");
  answer.say("The first half, ");
  await chat.text("The first half,").waitFor();
  await page.reload();
  await chat.text("The first half,").waitFor();
  answer.say("and the second.");
  await chat.text("The first half, and the second.").waitFor();
  answer.end();
  await chat.rested();
  expect(await shownTranscript(page)).toEqual(await keptTranscript(client, await openedSession(page)));
});

pageTest("a connection that is cut again and again costs no word and doubles none", async ({ serve, open, onEnd, expectErrors }) => {
  expectErrors(unreachable);
  const model = handModel();
  const { url, client } = await serve({ provider: model.provider });
  const proxy = await cuttingProxy(url);
  onEnd(proxy.close);
  const page = await open(proxy.url);
  const chat = chatPage(page);
  await chat.say("Count");
  const answer = await model.next();
  for (let round = 1; round <= 4; round++) {
    answer.say(`Before cut ${round}. `);
    await chat.text(`Before cut ${round}.`).waitFor();
    proxy.tear();
    answer.say(`During cut ${round}. `);
    await chat.text(`During cut ${round}.`).waitFor();
  }
  answer.end();
  await chat.rested();
  expect(await shownTranscript(page)).toEqual(await keptTranscript(client, await openedSession(page)));
});

pageTest(
  "while the server is away the page says so, keeps what is shown, and catches up by itself",
  async ({ serve, open, onEnd, expectErrors }) => {
    expectErrors(unreachable);
    const model = handModel();
    const { url, client } = await serve({ provider: model.provider });
    const proxy = await cuttingProxy(url);
    onEnd(proxy.close);
    const page = await open(proxy.url);
    const chat = chatPage(page);
    await chat.say("Count");
    const answer = await model.next();
    answer.say("One. ");
    await chat.text("One.").waitFor();
    proxy.cut();
    await lost(page).waitFor();
    await chat.text("One.").waitFor();
    answer.say("Two. ");
    answer.end();
    // What is sent now waits in the field, and goes when the server is back.
    await chat.say("And then?");
    await page.getByText("It is sent as soon as the connection is back.").waitFor();
    proxy.mend();
    await chat.text("One. Two.").waitFor();
    await lost(page).waitFor({ state: "detached" });
    const next = await model.next();
    next.say("Three.");
    next.end();
    await chat.text("Three.").waitFor();
    await chat.rested();
    expect(await chat.questions.count()).toBe(2);
    expect(await shownTranscript(page)).toEqual(await keptTranscript(client, await openedSession(page)));
  },
);

pageTest("a browser that was offline goes on as soon as it is online", async ({ serve, context, expectErrors }) => {
  expectErrors(unreachable);
  const model = handModel();
  const { url, client } = await serve({ provider: model.provider });
  const place = await context();
  const page = await place.newPage();
  await page.goto(url);
  const chat = chatPage(page);
  await chat.say("Count");
  const answer = await model.next();
  answer.say("One. ");
  await chat.text("One.").waitFor();
  await place.setOffline(true);
  answer.say("Two. ");
  await page.reload().catch(() => undefined);
  await place.setOffline(false);
  await page.goto(`${url}#/c/${(await client.sessions.list()).sessions[0]?.id}`);
  await chat.text("One. Two.").waitFor();
  answer.end();
  await chat.rested();
});

pageTest(
  "kill -9 of the server in the middle of an answer, twice: the page recovers by itself, with no gap and no double",
  async ({ open, onEnd, expectErrors }) => {
    expectErrors(unreachable);
    const folder = mkdtempSync(join(tmpdir(), "loopwright-page-"));
    onEnd(() => rmSync(folder, { recursive: true, force: true }));
    const store = join(folder, "sessions.db");
    let program = await runProgram({ store });
    onEnd(() => program.kill());
    const { url, port } = program;
    const client = createClient({ url });
    const page = await open(url);
    const chat = chatPage(page);
    await chat.say("hello");
    await chat.text("I am the offline demo model.").waitFor();
    const sessionId = await openedSession(page);
    await program.kill();
    await lost(page).waitFor();
    // What was written before is still shown.
    await chat.text("I am the offline demo model.").waitFor();
    program = await runProgram({ store, port });
    await lost(page).waitFor({ state: "detached" });
    await chat.text("and see").waitFor();
    await program.kill();
    await lost(page).waitFor();
    program = await runProgram({ store, port });
    await lost(page).waitFor({ state: "detached" });
    await chat.rested();
    await chat.text("Offline demo model: no network, no key, nothing is really understood.").waitFor();
    expect(await shownTranscript(page)).toEqual(await keptTranscript(client, sessionId));
    expect(await chat.questions.count()).toBe(1);
    await chat.say("think about a loop");
    await chat.text("You wrote: think about a loop").waitFor();
    await chat.rested();
    expect(await shownTranscript(page)).toEqual(await keptTranscript(client, sessionId));
    // What the page showed is what a page that is opened now shows.
    const before = await shownTranscript(page);
    await page.reload();
    await chat.text("You wrote: think about a loop").waitFor();
    await expect.poll(() => shownTranscript(page)).toEqual(before);
  },
  90_000,
);

pageTest("two pages on one conversation show the same, whoever writes", async ({ serve, context }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const place = await context();
  const [here, there] = [await place.newPage(), await place.newPage()];
  await here.goto(url);
  const chat = chatPage(here);
  await chat.say("From here");
  const answer = await model.next();
  answer.say("Both see");
  await there.goto(`${url}#/c/${await openedSession(here)}`);
  const other = chatPage(there);
  await other.text("Both see").waitFor();
  answer.say(" this.");
  await Promise.all([chat.text("Both see this.").waitFor(), other.text("Both see this.").waitFor()]);
  answer.end();
  await other.rested();
  await other.say("From there");
  (await model.next()).end();
  await chat.text("From there").waitFor();
  await chat.rested();
});
