import { createAgent } from "@loopwright/core";
import { expect } from "vitest";
import { chatPage, openedSession } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";

const textsIn = (request: { readonly messages: readonly { readonly content?: unknown; readonly role: string }[] }): readonly unknown[] =>
  request.messages.map(({ role, content }) =>
    role === "assistant" && Array.isArray(content) ? content.map((part: { readonly text?: string }) => part.text).join("") : content,
  );

pageTest("a message that is sent during an answer waits in sight, and is answered after it", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("First");
  const answer = await model.next();
  answer.say("Answer one");
  await chat.text("Answer one").waitFor();
  expect(await page.getByRole("radio", { name: "Queue" }).isChecked()).toBe(true);
  await chat.say("Second");
  const waiting = page.getByRole("list", { name: "Waiting messages" });
  await waiting.getByText("Next").waitFor();
  expect(await waiting.getByRole("listitem").textContent()).toBe("NextSecond");
  answer.end();
  const next = await model.next();
  expect(textsIn(next.request)).toEqual(["First", "Answer one", "Second"]);
  await waiting.waitFor({ state: "detached" });
  next.say("Answer two");
  next.end();
  await chat.rested();
  expect(await chat.questions.count()).toBe(2);
});

pageTest("a message whose acceptance comes before the answer to its request is shown once", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("First");
  const answer = await model.next();
  answer.say("Answer one");
  await chat.text("Answer one").waitFor();
  const released = Promise.withResolvers<void>();
  await page.route("**/messages", async (route) => {
    const response = await route.fetch();
    await released.promise;
    await route.fulfill({ response });
  });
  await chat.say("Second");
  const waiting = page.getByRole("list", { name: "Waiting messages" });
  await waiting.getByText("Next").waitFor();
  expect(await waiting.getByRole("listitem").allTextContents()).toEqual(["NextSecond"]);
  released.resolve();
  answer.end();
  const next = await model.next();
  next.say("Answer two");
  next.end();
  await chat.rested();
  expect(await chat.questions.count()).toBe(2);
});

pageTest("a message that steers joins the answer before the model is asked again", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Begin");
  const answer = await model.next();
  answer.say("I begin");
  await chat.text("I begin").waitFor();
  await page.getByRole("radio", { name: "Steer" }).check();
  await chat.say("Shorter, please");
  const waiting = page.getByRole("list", { name: "Waiting messages" });
  await waiting.getByText("Joins").waitFor();
  answer.call("current_time");
  answer.end();
  const next = await model.next();
  expect(textsIn(next.request).at(-1)).toBe("Shorter, please");
  next.say("Short.");
  next.end();
  await chat.rested();
  expect(await chat.text("Shorter, please").count()).toBe(1);
  // The choice is kept for the next time.
  await chat.say("Again");
  const last = await model.next();
  expect(await page.getByRole("radio", { name: "Steer" }).isChecked()).toBe(true);
  last.end();
  await chat.rested();
});

pageTest("a merged message is answered together with the one that waits", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Begin");
  const answer = await model.next();
  answer.say("I begin");
  await chat.text("I begin").waitFor();
  await chat.say("Then the second");
  const waiting = page.getByRole("list", { name: "Waiting messages" });
  await waiting.getByText("Next", { exact: true }).waitFor();
  await page.getByRole("radio", { name: "Merge" }).check();
  await chat.say("And the third with it");
  await waiting.getByText("With it", { exact: true }).waitFor();
  answer.end();
  const next = await model.next();
  expect(textsIn(next.request).slice(-2)).toEqual(["Then the second", "And the third with it"]);
  await waiting.waitFor({ state: "detached" });
  next.say("Both.");
  next.end();
  await chat.rested();
  expect(await chat.text("And the third with it").count()).toBe(1);
});

pageTest("an edited message is a branch of its own, and the switch leads back to the other one", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Write of cats");
  const first = await model.next();
  first.say("Cats sleep.");
  first.end();
  await chat.rested();
  await chat.questions.first().hover();
  await page.getByRole("button", { name: "Edit message" }).click();
  const edited = page.getByRole("textbox", { name: "Edit message" });
  expect(await edited.inputValue()).toBe("Write of cats");
  await edited.fill("Write of dogs");
  await edited.press("Enter");
  const second = await model.next();
  expect(textsIn(second.request)).toEqual(["Write of dogs"]);
  second.say("Dogs bark.");
  second.end();
  await chat.rested();
  await chat.text("Dogs bark.").waitFor();
  expect(await chat.text("Cats sleep.").count()).toBe(0);
  const versions = page.getByRole("group", { name: "Version 2 of 2" });
  await versions.getByRole("button", { name: "Previous version" }).click();
  await chat.text("Cats sleep.").waitFor();
  expect(await chat.text("Dogs bark.").count()).toBe(0);
  await chat.say("More");
  const third = await model.next();
  expect(textsIn(third.request)).toEqual(["Write of cats", "Cats sleep.", "More"]);
  third.end();
  await chat.rested();
});

pageTest("an answer given again is another version of it, and the chosen one is there after a reload", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("A number");
  const first = await model.next();
  first.say("One.");
  first.end();
  await chat.rested();
  await page.getByRole("button", { name: "Answer again" }).click();
  const second = await model.next();
  expect(textsIn(second.request)).toEqual(["A number"]);
  second.say("Two.");
  second.end();
  await chat.text("Two.").waitFor();
  await chat.rested();
  expect(await chat.questions.count()).toBe(1);
  await page.getByRole("group", { name: "Version 2 of 2" }).getByRole("button", { name: "Previous version" }).click();
  await chat.text("One.").waitFor();
  await page.reload();
  await chat.text("One.").waitFor();
  await page.getByRole("group", { name: "Version 1 of 2" }).getByRole("button", { name: "Next version" }).click();
  await chat.text("Two.").waitFor();
});

pageTest("the model is chosen among those of the agent, and kept for what comes next", async ({ serve, open }) => {
  const model = handModel("hand", "small-1");
  const agents = [createAgent({ name: "writer", provider: model.provider })];
  const { url } = await serve({ agents, models: { writer: ["large-1"] } });
  const page = await open(url);
  const chat = chatPage(page);
  const picker = page.getByRole("combobox", { name: "Model", exact: true });
  await picker.waitFor();
  expect(await picker.locator("option").allTextContents()).toEqual(["small-1", "large-1"]);
  await picker.selectOption({ label: "large-1" });
  await chat.say("Hello");
  const first = await model.next();
  expect(first.request.model).toBe("large-1");
  first.say("Good day");
  first.end();
  await chat.text("Good day").waitFor();
  await chat.rested();
  await page.reload();
  await chat.text("Good day").waitFor();
  await chat.say("Again");
  const second = await model.next();
  expect(second.request.model).toBe("large-1");
  second.end();
  await chat.rested();
  // What is shown is what is used, also where nothing was chosen since the page was opened.
  await page.reload();
  await expect.poll(() => picker.inputValue()).toContain("large-1");
  await page.getByRole("button", { name: "Answer again" }).last().click();
  const third = await model.next();
  expect(third.request.model).toBe("large-1");
  third.end();
  await chat.rested();
  await picker.selectOption({ label: "small-1" });
  await page.getByRole("button", { name: "Answer again" }).last().click();
  const fourth = await model.next();
  expect(fourth.request.model).toBe("small-1");
  fourth.end();
  await chat.rested();
});

pageTest("with several agents the first message chooses who answers", async ({ serve, open }) => {
  const [writer, critic] = [handModel("hand", "small-1"), handModel("hand", "sharp-1")];
  const agents = [createAgent({ name: "writer", provider: writer.provider }), createAgent({ name: "critic", provider: critic.provider })];
  const { url, client } = await serve({ agents });
  const page = await open(url);
  const chat = chatPage(page);
  const picker = page.getByRole("combobox", { name: "Agent and model" });
  await picker.selectOption({ label: "sharp-1" });
  expect(await chat.field.getAttribute("placeholder")).toBe("Write to critic");
  await chat.say("Read this");
  const answer = await critic.next();
  answer.say("It is wrong.");
  answer.end();
  await chat.text("It is wrong.").waitFor();
  expect((await client.sessions.get(await openedSession(page))).agent).toBe("critic");
});

pageTest("words that were not sent are still there after a reload, for each conversation its own", async ({ serve, open }) => {
  const { url, client } = await serve({ provider: handModel().provider });
  await client.sessions.create({ id: "one", title: "The one" });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.field.fill("half a thought");
  await page.getByRole("link", { name: "The one" }).click();
  await page.getByRole("heading", { name: "The one" }).waitFor();
  expect(await chat.field.inputValue()).toBe("");
  await chat.field.fill("another");
  await page.reload();
  await expect.poll(() => chat.field.inputValue()).toBe("another");
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect.poll(() => chat.field.inputValue()).toBe("half a thought");
});
