import { deepResearchSupervisor, reportText, researchToolNames } from "@loopwright/agents-research";
import { type Agent, agentTool, createAgent, defineTool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
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
    ["[2]", `Source 2: The "Tagus", ${host}`],
    ["[2]", `Source 2: The "Tagus", ${host}`],
  ]);
  await look(page, "citations-narrow-dark");
  expect(await axeProblems(page)).toEqual([]);
  await citations.last().focus();
  const [opened] = await Promise.all([page.context().waitForEvent("page"), page.keyboard.press("Enter")]);
  await opened.waitForURL(/page=tagus/);
});

const quote = "The port of Lisbon was opened in 1887 by the king.";
const lisbonUrl = "https://ports.example/lisbon";

/** A research of one page, which writes one report: a claim with a passage of the page, and one without. */
function portResearch(): Agent {
  const fetchPage = defineTool({
    name: "web_fetch",
    description: "Fetches a page.",
    parameters: { type: "object", properties: { url: { type: "string" } } },
    replay: "pure",
    async *execute({ url }) {
      yield { type: "complete", output: `<page>\n${quote} <b>Click here.</b>`, details: { url: String(url), title: "Port of Lisbon" } };
    },
  });
  const claims = [
    { text: "The port of Lisbon opened in 1887.", sources: [lisbonUrl] },
    { text: "It is well liked.", sources: [lisbonUrl] },
  ];
  return deepResearchSupervisor({
    name: "research",
    provider: scripted([
      { calls: [{ name: researchToolNames.researcher, args: { question: "When did it open?" } }] },
      { calls: [{ name: researchToolNames.report, args: { title: "Ports", sections: [{ heading: "Lisbon", claims }] } }] },
      { text: "Done." },
    ]),
    researcher: {
      provider: scripted([
        { calls: [{ name: "web_fetch", args: { url: lisbonUrl } }] },
        { text: `- The port of Lisbon opened in 1887. (${lisbonUrl})` },
      ]),
      tools: [fetchPage],
    },
  });
}

pageTest("B104: a citation opens the passage of its page, also after a reload, and says where none was found", async ({ serve, open }) => {
  const { url } = await serve({ agents: [portResearch()] });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("When did the port open?");
  await chat.rested();
  for (const state of ["watched", "reloaded"] as const) {
    const citations = chat.log.getByRole("button", { name: "Source 1: Port of Lisbon, ports.example" });
    await citations.first().waitFor();
    expect(await citations.count()).toBe(2);
    await citations.first().focus();
    await page.keyboard.press("Enter");
    const passage = page.locator(".citation-source");
    expect(await passage.locator("q").textContent()).toBe(quote);
    const link = passage.getByRole("link", { name: "Port of Lisbon" });
    expect([await link.getAttribute("href"), await link.getAttribute("rel")]).toEqual([lisbonUrl, "noopener noreferrer nofollow"]);
    expect(await axeProblems(page)).toEqual([]);
    await look(page, `citation-${state}`);
    await page.keyboard.press("Enter");
    expect(await passage.count()).toBe(0);
    await citations.last().click();
    expect(await passage.textContent()).toContain("No passage of the page was found");
    await citations.first().click();
    expect(await passage.count()).toBe(2);
    if (state === "watched") await page.reload();
  }
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await axeProblems(page)).toEqual([]);
  await look(page, "citation-narrow-dark");
});

pageTest("B104: the citations of a child's report open the same passages", async ({ serve, open }) => {
  const research = portResearch();
  const lead = createAgent({
    name: "lead",
    provider: scripted([{ calls: [{ name: "research", args: { task: "When did the port open?" } }] }, { text: "In 1887." }]),
    tools: [agentTool({ agent: research })],
  });
  const { url } = await serve({ agents: [lead, research] });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("When did the port of Lisbon open?");
  await chat.text("In 1887.").last().waitFor();
  await chat.rested();
  for (const state of ["watched", "reloaded"] as const) {
    await page
      .getByRole("button", { name: /^Agent research/ })
      .first()
      .click();
    const child = page.locator(".child-session");
    await child.getByRole("button", { name: "Source 1: Port of Lisbon, ports.example" }).first().click();
    expect(await child.locator(".citation-source q").textContent()).toBe(quote);
    await look(page, `citation-of-child-${state}`);
    if (state === "watched") await page.reload();
  }
});
