import type { Page } from "playwright-core";
import { expect } from "vitest";
import { cuttingProxy } from "./support/cutting-proxy.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";

/** The browser's message about requests whose connection was torn. */
const torn = /Failed to load resource: net::ERR_/;

interface Received {
  text: string;
  opened: number;
  errors: number;
  readonly runErrors: string[];
  readonly names: string[];
}

/** A plain `EventSource` of the browser that appends `text_delta`, and counts all other events. */
function listenIn(page: Page, sessionId: string) {
  return page.evaluateHandle((path) => {
    const received: Received = { text: "", opened: 0, errors: 0, runErrors: [], names: [] };
    const source = new EventSource(path);
    source.onopen = () => {
      received.opened += 1;
    };
    source.onerror = () => {
      received.errors += 1;
    };
    source.addEventListener("text_delta", ({ data }) => {
      received.text += JSON.parse(data).delta;
    });
    source.addEventListener("run_error", ({ data }) => received.runErrors.push(JSON.parse(data).type));
    for (const name of ["attempt_discarded", "message_end", "run_end", "rest"])
      source.addEventListener(name, () => received.names.push(name));
    return received;
  }, `/api/sessions/${sessionId}/events?text=whole&after=`);
}

pageTest(
  "a plain EventSource with text=whole has each answer once: late, after a retried attempt, and after a cut",
  async ({ serve, open, onEnd, expectErrors }) => {
    expectErrors(torn);
    const model = handModel();
    const { url, client } = await serve({ provider: model.provider });
    const proxy = await cuttingProxy(url);
    onEnd(proxy.close);
    const page = await open(proxy.url);
    const { sessionId: id } = await client.sessions.create({});
    await client.sessions.submit(id, { role: "user", content: "One" });
    const failing = await model.next();
    failing.say("Half a th");
    failing.fail("MODEL_OVERLOADED", { message: "Too many." });
    const first = await model.next();
    first.say("The first ");
    // It joins in the middle of the second attempt.
    const received = await listenIn(page, id);
    const read = (): Promise<Received> => received.jsonValue();
    const times = (name: string) => async (): Promise<number> => (await read()).names.filter((other) => other === name).length;
    await expect.poll(times("attempt_discarded")).toBe(1);
    expect((await read()).text).toBe("");
    first.say("answer. ");
    first.end();
    await expect.poll(times("run_end")).toBe(1);
    expect((await read()).text).toBe("The first answer. ");

    await client.sessions.submit(id, { role: "user", content: "Two" });
    const second = await model.next();
    second.say("The second ");
    proxy.tear();
    await expect.poll(async () => (await read()).errors).toBe(1);
    await expect.poll(async () => (await read()).opened).toBe(2);
    second.say("answer. ");
    second.end();
    await expect.poll(times("run_end")).toBe(2);
    expect((await read()).text).toBe("The first answer. The second answer. ");

    await client.sessions.submit(id, { role: "user", content: "Three" });
    const third = await model.next();
    third.say("The third answer.");
    proxy.cut();
    await expect.poll(async () => (await read()).errors).toBeGreaterThan(1);
    // All of it is streamed while the reader is away.
    third.end();
    proxy.mend();
    await expect.poll(times("run_end")).toBe(3);
    expect((await read()).text).toBe("The first answer. The second answer. The third answer.");
  },
);

pageTest("the error of a run is no error of a plain EventSource", async ({ serve, open }) => {
  const model = handModel();
  const { url, client } = await serve({ provider: model.provider });
  const page = await open(url);
  const { sessionId: id } = await client.sessions.create({});
  const received = await listenIn(page, id);
  await client.sessions.submit(id, { role: "user", content: "One" });
  const answer = await model.next();
  answer.say("So far");
  await client.sessions.abort(id);
  await expect.poll(async () => (await received.jsonValue()).names.includes("run_end")).toBe(true);
  expect(await received.jsonValue()).toMatchObject({ text: "So far", opened: 1, errors: 0, runErrors: ["error"] });
});
