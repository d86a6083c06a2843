import { reportText } from "@loopwright/agents-research";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

pageTest("the citations of a research report are links to the pages they name, by number, title and host", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const [lisbon, tagus] = [`${url}?page=lisbon`, `${url}?page=tagus`];
  const sections = [
    {
      heading: "Lisbon",
      claims: [
        { text: "Lisbon has a port.", sources: [lisbon, tagus] },
        { text: "It lies on the Tagus.", sources: [tagus] },
      ],
    },
  ];
  const report = reportText({ title: "Ports of Portugal", sections }, [
    { url: lisbon, title: "Lisbon" },
    { url: tagus, title: 'The "Tagus"' },
  ]);
  const page = await open(url, { viewport: { width: 360, height: 740 }, colorScheme: "dark" });
  const chat = chatPage(page);
  await chat.say("Which ports has Portugal?");
  const answer = await model.next();
  answer.say(report);
  answer.end();
  await chat.rested();
  const { host } = new URL(url);
  const citations = chat.log.getByRole("link", { name: /^Source/ });
  expect(await citations.evaluateAll((links) => links.map((link) => [link.textContent, link.getAttribute("aria-label")]))).toEqual([
    ["[1]", `Source 1: Lisbon, ${host}`],
    ["[2]", `Source 2: The 'Tagus', ${host}`],
    ["[2]", `Source 2: The 'Tagus', ${host}`],
  ]);
  await look(page, "citations-narrow-dark");
  expect(await axeProblems(page)).toEqual([]);
  await citations.last().focus();
  const [opened] = await Promise.all([page.context().waitForEvent("page"), page.keyboard.press("Enter")]);
  await opened.waitForURL(/page=tagus/);
});
