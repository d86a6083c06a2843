import type { Page } from "playwright-core";
import { expect } from "vitest";
import { openA2aChat } from "../../../examples/a2a-chat/a2a-chat.ts";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage } from "./support/chat-page.ts";
import { type HandModel, handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { type PageScene, pageTest } from "./support/page-test.ts";

async function chatOf(scene: PageScene): Promise<{ readonly url: string; readonly model: HandModel }> {
  const model = handModel();
  const { url, close } = await openA2aChat(model.provider);
  scene.onEnd(close);
  return { url, model };
}

const work = (page: Page) => page.getByRole("list", { name: "Work" }).last().getByRole("listitem");

pageTest("C65, C66: the page over A2A shows text, what a tool does, and the result, each as it comes", async (scene) => {
  const { url, model } = await chatOf(scene);
  const page = await scene.open(url);
  // What the page got, by its kinds.
  await page.evaluate(() => {
    const kinds: string[] = [];
    Object.assign(window, { kinds });
    class Watched extends TextDecoderStream {
      constructor() {
        super();
        const [shown, watched] = this.readable.tee();
        Object.defineProperty(this, "readable", { value: shown });
        void watched.pipeTo(
          new WritableStream({ write: (text) => void kinds.push(...[...text.matchAll(/^event: (\w+)$/gm)].map(([, kind]) => kind ?? "")) }),
        );
      }
    }
    Object.assign(window, { TextDecoderStream: Watched });
  });
  const chat = chatPage(page);
  await chat.say("How dry are the roses?");
  const first = await model.next();
  first.say("I read the ");
  await chat.text("I read the").waitFor();
  expect(await work(page).count()).toBe(0);
  first.say("sensor.");
  await chat.text("I read the sensor.").waitFor();
  first.call("read_sensor", { bed: "roses" });
  first.end();
  await work(page).getByText("read_sensor: ok (roses: 18 %)").waitFor();
  const second = await model.next();
  second.say("They are ");
  await chat.text("They are").waitFor();
  await look(page, "a2a-chat-streaming");
  // The model has not ended: everything above came before its result.
  expect(await chat.stop.count()).toBe(1);
  second.say("dry: 18 %. ☔");
  second.end();
  await chat.rested();
  expect(await chat.answers.last().locator(".text").textContent()).toBe("They are dry: 18 %. ☔");
  const kinds = await page.evaluate(() => (window as never as { readonly kinds: readonly string[] }).kinds);
  const order = kinds.filter((kind, place) => kind !== kinds[place - 1]);
  expect([order[0], order.includes("progress"), order.at(-1), kinds.filter((kind) => kind === "result").length]).toEqual([
    "status",
    true,
    "result",
    1,
  ]);
  expect(await axeProblems(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await look(page, "a2a-chat-360");
});

pageTest(
  "C66: the page over A2A answers the question of a task, continues after a reload, stops a task, and shows a cause",
  async (scene) => {
    const { url, model } = await chatOf(scene);
    const page = await scene.open(url);
    const chat = chatPage(page);
    await chat.say("Water the herbs.");
    const asked = await model.next();
    asked.call("water_bed", { bed: "herbs" });
    asked.end();
    await page.getByText("May `water_bed` run? It takes 40 litres of the rain water.").waitFor();
    await look(page, "a2a-chat-question");
    await chat.say("allow");
    const after = await model.next();
    after.say("The herbs have ");
    await chat.text("The herbs have").waitFor();
    await page.reload();
    await chat.text("The herbs have").waitFor();
    after.say("40 litres.");
    after.end();
    await chat.rested();
    expect(await chat.answers.last().locator(".text").textContent()).toBe("The herbs have 40 litres.");

    await chat.say("Tell me about beans.");
    const long = await model.next();
    long.say("Beans are");
    await chat.text("Beans are").waitFor();
    await chat.stop.click();
    await page.getByText("canceled:").waitFor();
    expect(await chat.answers.last().locator(".text").textContent()).toBe("Beans are");

    await chat.say("And herbs?");
    (await model.next()).fail("MODEL_AUTH", { message: "The key of the model is refused." });
    await page.getByText("failed: The key of the model is refused.").waitFor();
  },
);
