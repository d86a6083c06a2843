import { expect } from "vitest";
import { hostile } from "./harness/sample-text.ts";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";

pageTest("words of a model or a person that look like HTML, terminal signs or another direction stay words", async ({ serve, open }) => {
  const model = handModel();
  const { url, client } = await serve({ provider: model.provider });
  const page = await open(url);
  const dialogs: string[] = [];
  page.on("dialog", async (dialog) => {
    dialogs.push(dialog.message());
    await dialog.dismiss();
  });
  const chat = chatPage(page);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await chat.say(hostile);
  const answer = await model.next();
  answer.think(hostile);
  // One piece per sign: a tag that comes in halves is none either.
  for (const sign of hostile) answer.say(sign);
  answer.say(
    "\n\n![spy](https://example.org/spy.png) ![x](javascript:alert(1))\r\nevent: evil\r\ndata: {}\r\n\r\n<style>*{display:none}</style> The end.",
  );
  await chat.text("The end.").waitFor();
  answer.call("calculate", { expression: hostile });
  answer.end();
  const last = await model.next();
  last.end();
  await chat.rested();
  for (const head of await chat.calls.getByRole("button").all()) await head.click();
  await page.getByRole("button", { name: "Thoughts" }).click();
  const { id } = (await client.sessions.list()).sessions[0] ?? { id: "" };
  await client.sessions.change(id, { title: hostile.slice(0, 60) });
  await page.getByRole("link", { name: "</script><img" }).waitFor();

  const found = await page.evaluate(() => ({
    otherUsers: document.querySelectorAll("main script, main img, main svg[onload], main style, main iframe, main object").length,
    handlers: [...document.querySelectorAll("*")].filter((element) => [...element.attributes].some(({ name }) => name.startsWith("on")))
      .length,
    links: [...document.querySelectorAll("main a[href]")]
      .map((link) => link.getAttribute("href"))
      .filter((href) => !/^(#|https:\/\/example\.org\/)/.test(href ?? "")),
    // Where a sign is that steers a terminal or the direction of writing.
    steering: [...document.querySelectorAll("body *")]
      .filter((element) =>
        [...element.childNodes].some(
          // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
          (node) => node.nodeType === 3 && /[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/.test(node.nodeValue ?? ""),
        ),
      )
      .map(({ tagName, className }) => `${tagName} ${className}`),
  }));
  expect(found).toEqual({ otherUsers: 0, handlers: 0, links: [], steering: [] });
  expect(await chat.answers.first().textContent()).toContain('</script><img src=x onerror="alert(1)">');
  expect(dialogs).toEqual([]);
  expect(requests.filter((address) => !address.startsWith(url))).toEqual([]);
});
