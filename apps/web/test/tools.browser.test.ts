import { createAgent, defineTool, type ToolEvent, textOf } from "@loopwright/core";
import { expect } from "vitest";
import { chatPage, openedSession } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";

pageTest("A08: a call of a tool is one line, folded, and opens to arguments, result and time", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Multiply");
  const answer = await model.next();
  answer.say("I look.");
  answer.call("calculate", { expression: "6 * 7" });
  answer.end();
  const next = await model.next();
  next.say("It is 42.");
  next.end();
  await chat.rested();
  const head = chat.calls.getByRole("button", { name: /^Calculate/ });
  expect(await head.getAttribute("aria-expanded")).toBe("false");
  expect(await head.textContent()).toContain("6 * 7");
  expect(await chat.calls.getByText("Arguments").count()).toBe(0);
  expect(await head.locator(".call-time").textContent()).toMatch(/\d+(\.\d+)?\s?(ms|s)$/);
  await head.click();
  expect(await head.getAttribute("aria-expanded")).toBe("true");
  await chat.calls.getByText("Arguments").waitFor();
  expect(await chat.calls.textContent()).toContain('"expression": "6 * 7"');
  expect(await chat.calls.textContent()).toContain("42");
  await head.click();
  expect(await head.getAttribute("aria-expanded")).toBe("false");
  // After a reload it is folded again, with the same time.
  const time = await head.locator(".call-time").textContent();
  await page.reload();
  await head.waitFor();
  expect(await head.locator(".call-time").textContent()).toBe(time);
  await head.click();
  await chat.calls.getByText("42", { exact: true }).waitFor();
});

pageTest("a tool that fails says why, and its card says that it failed", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Multiply");
  const answer = await model.next();
  answer.call("calculate", { expression: "six" });
  answer.end();
  const next = await model.next();
  next.say("That did not work.");
  next.end();
  await chat.rested();
  const head = chat.calls.getByRole("button", { name: /Calculate.*failed/ });
  await head.click();
  await chat.calls.getByText("`six` is not a product of two whole numbers.").waitFor();
});

pageTest("tools at once run side by side, tell their steps and what they write, and end one by one", async ({ serve, open }) => {
  const gates = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>(), c: Promise.withResolvers<void>() };
  const read = defineTool({
    name: "read_part",
    label: "Read a part",
    description: "Reads a part.",
    parameters: { type: "object", properties: { part: { type: "string" } }, required: ["part"] },
    replay: "pure",
    async *execute(args: { readonly part?: unknown }, { progress }): AsyncGenerator<ToolEvent, void> {
      const part = args.part === "a" || args.part === "b" ? args.part : "c";
      const step = progress(`Reading part ${part}`, { icon: "LIGHTBULB" });
      yield { type: "delta", delta: `Part ${part} begins. ` };
      await gates[part].promise;
      step.end();
      yield { type: "delta", delta: `Part ${part} ends.` };
    },
  });
  const model = handModel();
  const { url } = await serve({ agents: [createAgent({ name: "reader", provider: model.provider, tools: [read] })] });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Read all");
  const answer = await model.next();
  for (const part of ["a", "b", "c"]) answer.call("read_part", { part });
  answer.end();
  await expect.poll(() => chat.calls.and(page.locator('[data-state="running"]')).count()).toBe(3);
  for (const part of ["a", "b", "c"]) await chat.calls.getByText(`Reading part ${part}`).waitFor();
  expect(await chat.calls.locator(".call-step [data-icon=LIGHTBULB] svg").count()).toBe(3);
  const second = chat.calls.nth(1);
  await second.getByRole("button").first().click();
  await second.getByText("Part b begins.").waitFor();
  gates.b.resolve();
  await expect.poll(() => second.getAttribute("data-state")).toBe("ok");
  await second.getByText("Part b begins. Part b ends.").waitFor();
  expect(await chat.calls.and(page.locator('[data-state="running"]')).count()).toBe(2);
  gates.a.resolve();
  gates.c.resolve();
  await expect.poll(() => chat.calls.and(page.locator('[data-state="ok"]')).count()).toBe(3);
  (await model.next()).end();
  await chat.rested();
});

pageTest("the tools of the page tell its time and its window, without asking anybody", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url, { timezoneId: "Asia/Tokyo", viewport: { width: 1111, height: 777 } });
  const chat = chatPage(page);
  await chat.say("Where am I?");
  const answer = await model.next();
  expect(answer.request.tools?.map(({ name }) => name)).toEqual(expect.arrayContaining(["pick_color", "page_time", "browser_info"]));
  answer.call("page_time");
  answer.call("browser_info");
  answer.end();
  const { request, end } = await model.next();
  const results = request.messages.filter((message) => message.role === "tool_result").map((message) => JSON.parse(textOf(message)));
  expect(results).toMatchObject([{ timeZone: "Asia/Tokyo" }, { window: { width: 1111, height: 777 } }]);
  end();
  await chat.rested();
});

pageTest(
  "a tool of the page that asks a person waits for a colour, also over a reload, and hands it to the model",
  async ({ serve, open }) => {
    const model = handModel();
    const { url, client } = await serve({ provider: model.provider });
    const page = await open(url);
    const chat = chatPage(page);
    await chat.say("Paint it");
    const answer = await model.next();
    answer.call("pick_color", { prompt: "The colour of the door", suggestions: ["#ff0000", "#00ff00"] });
    answer.end();
    const dialog = page.getByRole("dialog", { name: "The answer needs a colour" });
    await dialog.getByText("The colour of the door").waitFor();
    const sessionId = await openedSession(page);
    await page.reload();
    await dialog.getByText("The colour of the door").waitFor();
    expect((await client.sessions.get(sessionId)).status).toBe("waiting");
    await dialog.getByRole("radio", { name: "#00ff00" }).check();
    await dialog.getByRole("button", { name: "Use this colour" }).click();
    const { request, say, end } = await model.next();
    expect(request.messages.at(-1)).toMatchObject({ role: "tool_result", content: [{ text: '{"color":"#00ff00"}' }] });
    say("Green it is.");
    end();
    await chat.text("Green it is.").waitFor();
    await dialog.waitFor({ state: "detached" });
  },
);

pageTest("a colour that nobody wants to pick is an error that the model can read", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Paint it");
  const answer = await model.next();
  answer.call("pick_color");
  answer.end();
  await page.getByRole("dialog", { name: "The answer needs a colour" }).waitFor();
  await page.keyboard.press("Escape");
  const { request, end } = await model.next();
  expect(request.messages.at(-1)).toMatchObject({ role: "tool_result", isError: true });
  end();
  await chat.rested();
});
