import { expect } from "vitest";
import { chatPage, openedSession } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";
import { keptTranscript, shownTranscript } from "./support/transcript.ts";

// The one test of the page that every `npm test` runs; the others are the `*.browser.test.ts` beside it.
pageTest("a new user opens the page, chats, sees a tool, reloads in the middle of an answer, and stops it", async ({ serve, open }) => {
  const model = handModel();
  const { url, client } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("What is 6 * 7?");
  const first = await model.next();
  first.say("I ask the tool.");
  first.call("calculate", { expression: "6 * 7" });
  first.end();
  const second = await model.next();
  second.say("It is **42**, ");
  await chat.text("It is 42,").waitFor();
  const call = chat.calls.getByRole("button", { name: /Calculate.*done/ });
  expect(await call.getAttribute("aria-expanded")).toBe("false");
  await call.click();
  await chat.calls.getByText("42", { exact: true }).waitFor();
  await page.reload();
  await chat.text("It is 42,").waitFor();
  second.say("as everybody kn");
  await chat.text("It is 42, as everybody kn").waitFor();
  await chat.stop.click();
  await chat.text("Stopped here").waitFor();
  await chat.rested();
  expect(await shownTranscript(page)).toEqual(await keptTranscript(client, await openedSession(page)));
});
