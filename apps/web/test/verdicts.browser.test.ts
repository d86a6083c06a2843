import { createAgent, defineTool } from "@loopwright/core";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

pageTest(
  "what hooks change shows in the conversation where it happened: a line each, which opens to its details",
  async ({ serve, open }) => {
    const model = handModel();
    const erase = defineTool({
      name: "erase",
      label: "Erase a disk",
      description: "Erases a disk.",
      parameters: { type: "object", properties: { disk: { type: "string" } }, required: ["disk"] },
      execute: () => "erased",
    });
    const agent = createAgent({
      name: "careful",
      provider: model.provider,
      tools: [erase],
      hooks: [
        {
          name: "wording",
          accept: () => ({ action: "edit", message: "Please clean the disk a", reason: "politeness" }),
          gate: () => ({ action: "deny", reason: "erasing is not allowed" }),
        },
      ],
    });
    const { url } = await serve({ agents: [agent] });
    const page = await open(url);
    const chat = chatPage(page);
    await chat.say("Hello");
    const hello = await model.next();
    hello.say("Hello to you.");
    hello.end();
    await chat.text("Hello to you.").waitFor();
    await chat.rested();
    await chat.say("Clean the disk a");
    const first = await model.next();
    first.call("erase", { disk: "a" });
    first.end();
    const last = await model.next();
    last.say("I may not.");
    last.end();
    await chat.text("I may not.").waitFor();
    await chat.rested();

    const ofInput = chat.questions.nth(1).getByRole("list", { name: "Changed by hooks" });
    expect(await ofInput.getByRole("button").allTextContents()).toEqual(["wording (accept): edit, politeness"]);
    const line = chat.calls.getByRole("button", { name: "wording (gate): deny, erasing is not allowed" });
    expect(await line.getAttribute("aria-expanded")).toBe("false");
    await line.focus();
    await page.keyboard.press("Enter");
    expect(await line.getAttribute("aria-expanded")).toBe("true");
    expect(await chat.calls.getByRole("term").allTextContents()).toEqual(["Hook", "Point", "Action", "Reason", "Call"]);
    expect(await chat.calls.getByRole("definition").allTextContents()).toEqual([
      "wording",
      "gate",
      "deny",
      "erasing is not allowed",
      expect.stringMatching(/\.1\.0$/),
    ]);
    expect(await axeProblems(page)).toEqual([]);
    await look(page, "verdicts");
  },
);
