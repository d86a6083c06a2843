import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { PageName } from "../../../../examples/pages/serve-page.ts";
import { axeProblems } from "./axe-check.ts";
import { chatPage } from "./chat-page.ts";
import { examplePage } from "./example-page.ts";
import { look } from "./look.ts";
import { pageTest } from "./page-test.ts";

const call = (page: Page, name: string) => page.getByRole("region", { name });
const click = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();

interface GardenClient {
  readonly name: PageName;
  /** The client, for titles. */
  readonly client: string;
  /** How many messages an answer of two turns is on this page. */
  readonly messagesOfTwoTurns: number;
  /** What the page shows of a call that was denied. */
  readonly denied: string;
}

/** What each page of `examples/pages` can do, by its own client. */
export function gardenTests({ name, client, messagesOfTwoTurns, denied }: GardenClient): void {
  pageTest(`${client}: reasoning, text and a tool of the server stream, on a wide page and on a narrow one`, async (scene) => {
    const { url, model } = await examplePage(scene, name);
    const page = await scene.open(url);
    const chat = chatPage(page);
    await chat.rested();
    await chat.say("How dry are the roses?");
    const first = await model.next();
    first.think("The sensor knows.");
    first.say("I read the ");
    await chat.text("I read the").waitFor();
    first.say("sensor.");
    first.call("read_sensor", { bed: "roses" });
    first.end();
    await call(page, "read_sensor").getByText("roses: 18 %").waitFor();
    const second = await model.next();
    second.say("They are dry: 18 %. ☔");
    second.end();
    await chat.text("They are dry: 18 %. ☔").waitFor();
    await chat.rested();
    await page.getByText("Reasoning").click();
    await chat.text("The sensor knows.").waitFor();
    expect(await chat.answers.count()).toBe(messagesOfTwoTurns);
    expect(await axeProblems(page)).toEqual([]);
    await look(page, `${name}-wide`);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await look(page, `${name}-360`);
  });

  pageTest(`${client}: the page answers its own tool, and the answer continues`, async (scene) => {
    const { url, model } = await examplePage(scene, name);
    const page = await scene.open(url);
    const chat = chatPage(page);
    await chat.rested();
    await chat.say("Which bed needs me?");
    const first = await model.next();
    first.call("choose_bed");
    first.end();
    await page.getByText("Which bed?").waitFor();
    await look(page, `${name}-client-tool`);
    await click(page, "herbs");
    const second = await model.next();
    expect(JSON.stringify(second.request.messages.at(-1))).toContain("herbs");
    second.say("The herbs it is.");
    second.end();
    await chat.text("The herbs it is.").waitFor();
    await chat.rested();
    expect([await chat.questions.count(), await chat.answers.count()]).toEqual([1, messagesOfTwoTurns]);
  });

  pageTest(
    `${client}: a call that needs approval runs when it is allowed, does not when it is denied, and waits through a reload`,
    async (scene) => {
      const { url, model } = await examplePage(scene, name);
      const page = await scene.open(url);
      const chat = chatPage(page);
      await chat.rested();
      for (const [button, outcome] of [
        ["Allow", "The herbs got 40 litres."],
        ["Deny", denied],
      ] as const) {
        await chat.say("Water the herbs.");
        const asked = await model.next();
        asked.call("water_bed", { bed: "herbs" });
        asked.end();
        await page.getByText("It takes 40 litres of the rain water.").waitFor();
        await page.reload();
        await page.getByText("It takes 40 litres of the rain water.").waitFor();
        await look(page, `${name}-approval-${button}`);
        await click(page, button);
        const after = await model.next();
        after.say(`Then: ${button}.`);
        after.end();
        await chat.text(`Then: ${button}.`).waitFor();
        await chat.rested();
        expect(await call(page, "water_bed").last().getByText(outcome).count()).toBe(1);
      }
    },
  );

  pageTest(`${client}: an answer continues after a reload, is stopped by the page, and an error is shown`, async (scene) => {
    const { url, model } = await examplePage(scene, name);
    const page = await scene.open(url);
    const chat = chatPage(page);
    await chat.rested();
    await chat.say("Tell me about roses.");
    const first = await model.next();
    first.say("Roses are ");
    await chat.text("Roses are").waitFor();
    await page.reload();
    await chat.text("Roses are").waitFor();
    first.say("thirsty.");
    await chat.text("Roses are thirsty.").waitFor();
    first.end();
    await chat.rested();
    expect([await chat.questions.count(), await chat.answers.count()]).toEqual([1, 1]);

    await chat.say("And beans?");
    const second = await model.next();
    second.say("Beans are");
    await chat.text("Beans are").waitFor();
    await chat.stop.click();
    await chat.rested();
    expect(await chat.answers.last().textContent()).toBe("Beans are");

    scene.expectErrors(/Failed to load resource/);
    await chat.say("And herbs?");
    (await model.next()).fail("MODEL_AUTH", { message: "The key of the model is refused." });
    await page.getByRole("alert").getByText("The key of the model is refused.").waitFor();
    await look(page, `${name}-error`);
  });

  pageTest(`${client}: two chats stream at once, each its own answer`, async (scene) => {
    const { url, model } = await examplePage(scene, name);
    const context = await scene.context();
    const [roses, beans] = await Promise.all(
      ["roses", "beans"].map(async (name) => {
        const page = await context.newPage();
        await page.goto(`${url}#${name}`);
        return chatPage(page);
      }),
    );
    if (!roses || !beans) throw new Error("There are two pages.");
    await Promise.all([roses.rested(), beans.rested()]);
    await roses.say("Roses?");
    const ofRoses = await model.next();
    await beans.say("Beans?");
    const ofBeans = await model.next();
    ofRoses.say("Roses ");
    ofBeans.say("Beans ");
    await Promise.all([roses.answers.getByText("Roses").waitFor(), beans.answers.getByText("Beans").waitFor()]);
    ofBeans.say("climb.");
    ofRoses.say("sting.");
    ofRoses.end();
    ofBeans.end();
    await Promise.all([roses.text("Roses sting.").waitFor(), beans.text("Beans climb.").waitFor()]);
    expect([await roses.answers.allTextContents(), await beans.answers.allTextContents()]).toEqual([["Roses sting."], ["Beans climb."]]);
  });
}
