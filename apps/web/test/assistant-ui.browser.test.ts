import { chatPage } from "./support/chat-page.ts";
import { examplePage } from "./support/example-page.ts";
import { gardenTests } from "./support/garden-tests.ts";
import { pageTest } from "./support/page-test.ts";

gardenTests({ name: "assistant-ui", client: "assistant-ui", messagesOfTwoTurns: 1, denied: "It was denied." });

pageTest("assistant-ui: `useChatRuntime` with its own transport and threads shows text and calls, and answers them", async (scene) => {
  const { url, model } = await examplePage(scene, "assistant-ui");
  const page = await scene.open(`${url}?new`);
  const chat = chatPage(page);
  await chat.say("Which bed?");
  const first = await model.next();
  first.say("I ask you.");
  first.call("read_sensor", { bed: "beans" });
  first.call("choose_bed");
  first.end();
  await page.getByText("beans: 61 %").waitFor();
  await page.getByRole("button", { name: "roses", exact: true }).click();
  const second = await model.next();
  second.say("The roses.");
  second.end();
  await chat.answers.getByText("The roses.").waitFor();
  await chat.rested();
});
