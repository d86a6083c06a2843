import { bearerTokens } from "@loopwright/server";
import { expect } from "vitest";
import { chatPage, openedSession } from "./support/chat-page.ts";
import { cuttingProxy } from "./support/cutting-proxy.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";

pageTest("a model that refuses the key fails with what to do, and trying again works", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Hello");
  (await model.next()).fail("MODEL_AUTH", { message: "The vendor refused the key of the test." });
  const problem = chat.log.getByRole("alert");
  await problem.getByText("The vendor refused the key of the test.").waitFor();
  expect(await problem.textContent()).toContain("Check the API key and that it may use this model.");
  expect(await problem.textContent()).toContain("MODEL_AUTH");
  await problem.getByRole("button", { name: "Try again" }).click();
  const again = await model.next();
  again.say("Now it works.");
  again.end();
  await chat.text("Now it works.").waitFor();
  await problem.waitFor({ state: "detached" });
});

pageTest("an attempt that fails in the middle is thrown away, tried again, and leaves no double word", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Hello");
  const first = await model.next();
  first.say("A first try");
  await chat.text("A first try").waitFor();
  first.fail("MODEL_OVERLOADED", { message: "Too many people ask.", retryAfterMs: 1_000 });
  await chat.text("Trying again").waitFor();
  await chat.text("Too many people ask.").waitFor();
  expect(await chat.text("A first try").count()).toBe(0);
  const second = await model.next();
  second.say("The answer.");
  second.end();
  await chat.rested();
  expect(await chat.answers.count()).toBe(1);
});

pageTest("a conversation that does not exist says so, and a new one is one click away", async ({ serve, open, expectErrors }) => {
  expectErrors(/404/);
  const { url } = await serve({ provider: handModel().provider });
  const page = await open(`${url}#/c/nosuchsession`);
  await page.getByRole("heading", { name: "Conversation not found" }).waitFor();
  await page.getByRole("alert").getByRole("button", { name: "New conversation" }).click();
  await page.getByText("What shall we work on?").waitFor();
});

pageTest(
  "a page that cannot reach its server says so in the list and under the message, and keeps the message",
  async ({ serve, open, onEnd, expectErrors }) => {
    expectErrors(/Failed to load resource/);
    const model = handModel();
    const { url } = await serve({ provider: model.provider });
    const proxy = await cuttingProxy(url);
    onEnd(proxy.close);
    const page = await open(proxy.url);
    const chat = chatPage(page);
    await page.getByRole("combobox", { name: "Model" }).waitFor();
    proxy.cut();
    await chat.say("Is anybody there?");
    const problem = page.getByRole("form", { name: "Write a message" }).getByRole("alert");
    await problem.getByText("SERVER_UNREACHABLE").waitFor();
    expect(await chat.field.inputValue()).toBe("Is anybody there?");
    proxy.mend();
    await problem.getByRole("button", { name: "Send again" }).click();
    const answer = await model.next();
    answer.say("I am.");
    answer.end();
    await chat.text("I am.").waitFor();
    expect(await chat.questions.count()).toBe(1);
  },
);

pageTest(
  "a server with tokens asks who is there, refuses a wrong one, and remembers the right one",
  async ({ serve, open, expectErrors }) => {
    // A server without cookies has no sign-in of its own.
    expectErrors(/401|404/);
    const token = "a-long-token-for-the-test";
    const model = handModel();
    const access = { user: "ada", scope: "local", trusted: true };
    const { url } = await serve({ provider: model.provider, authenticate: bearerTokens({ [token]: access }) });
    const page = await open(url);
    const field = page.getByLabel("Access token");
    await field.fill("a-wrong-token-for-the-test");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await field.fill(token);
    await field.press("Enter");
    const chat = chatPage(page);
    await chat.say("It is me");
    const answer = await model.next();
    answer.say("Welcome.");
    answer.end();
    await chat.text("Welcome.").waitFor();
    expect(page.url()).not.toContain(token);
    await page.reload();
    await chat.text("Welcome.").waitFor();
  },
);

pageTest("a conversation that was deleted elsewhere is closed here with a word", async ({ serve, open, expectErrors }) => {
  expectErrors(/404/);
  const { url, client } = await serve({ provider: handModel().provider });
  await client.sessions.create({ id: "doomed", title: "Soon gone" });
  const page = await open(`${url}#/c/doomed`);
  await page.getByRole("heading", { name: "Soon gone" }).waitFor();
  expect(await openedSession(page)).toBe("doomed");
  await client.sessions.remove("doomed");
  await page.getByRole("heading", { name: "Conversation not found" }).waitFor();
});
