import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UserMessage } from "@loopwright/core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";

/** One red pixel. */
const picture = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==", "base64");

const partsOf = (message: unknown): readonly unknown[] => {
  const { content } = message as UserMessage;
  return Array.isArray(content) ? content : [content];
};

/** What a hand does with files that it brings: a paste into the field, or a drop on the window. */
async function bring(page: Page, how: "paste" | "drop", name: string): Promise<void> {
  await chatPage(page).field.evaluate(
    (field, [kind, fileName, base64]) => {
      const bytes = Uint8Array.from(atob(base64 ?? ""), (sign) => sign.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], fileName ?? "", { type: "image/png" }));
      if (kind === "paste") {
        field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        return;
      }
      for (const type of ["dragenter", "dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    [how, name, picture.toString("base64")],
  );
}

pageTest("pictures that are pasted or dropped and files that are picked go with the message", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  const attachments = page.getByRole("list", { name: "Attachments" });
  await bring(page, "paste", "pasted.png");
  await attachments.getByText("pasted.png").waitFor();
  await bring(page, "drop", "dropped.png");
  await attachments.getByText("dropped.png").waitFor();
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Attach files" }).click()]);
  await chooser.setFiles([
    { name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Notes") },
    { name: "wrong.txt", mimeType: "text/plain", buffer: Buffer.from("not this") },
  ]);
  await attachments.getByRole("button", { name: "Remove wrong.txt" }).click();
  await expect.poll(() => attachments.getByRole("listitem").count()).toBe(3);
  await attachments.getByRole("progressbar").waitFor({ state: "detached" });
  await chat.say("Look at these");
  const answer = await model.next();
  expect(partsOf(answer.request.messages[0])).toMatchObject([
    { type: "text", text: "Look at these" },
    { type: "image", mediaType: "image/png", source: { data: picture.toString("base64") } },
    { type: "image", mediaType: "image/png" },
    { type: "file", name: "notes.md", source: { data: Buffer.from("# Notes").toString("base64") } },
  ]);
  answer.end();
  await chat.rested();
  await attachments.waitFor({ state: "detached" });
  const shown = chat.questions.first().locator("img");
  await expect.poll(() => shown.count()).toBe(2);
  await expect.poll(() => shown.first().evaluate((image) => image instanceof HTMLImageElement && image.naturalWidth)).toBe(1);
  await chat.questions.first().getByText("notes.md").waitFor();
});

pageTest("a message may be a picture alone, and what was attached is still there after a reload", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  const attachments = page.getByRole("list", { name: "Attachments" });
  expect(await chat.send.isDisabled()).toBe(true);
  await bring(page, "paste", "alone.png");
  await attachments.getByRole("img").or(attachments.locator("img")).first().waitFor();
  await page.reload();
  await attachments.getByText("alone.png").waitFor();
  await chat.send.click();
  const answer = await model.next();
  expect(partsOf(answer.request.messages[0])).toMatchObject([{ type: "image" }]);
  answer.end();
  await chat.rested();
});

pageTest("a file that is too large is refused before it is sent, with its size and the limit", async ({ serve, open, onEnd }) => {
  const { url } = await serve({ provider: handModel().provider });
  const page = await open(url);
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Attach files" }).click()]);
  // From the disk, as a person picks it: bytes of a test would take the long way through the protocol of the browser.
  const folder = mkdtempSync(join(tmpdir(), "loopwright-page-"));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "huge.bin"), Buffer.alloc(11 * 1024 * 1024));
  await chooser.setFiles(join(folder, "huge.bin"));
  const attachments = page.getByRole("list", { name: "Attachments" });
  await attachments.getByRole("alert").getByText("Too large: 11.5 MB, at most 10.5 MB.").waitFor();
  await attachments.getByRole("button", { name: "Remove huge.bin" }).click();
  await attachments.waitFor({ state: "detached" });
});
