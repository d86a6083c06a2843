import { type ChatButton, type ChatSurface, splitMarkdown } from "@loopwright/chat-kit";
import { type Api, InputFile } from "grammy";
import type { InlineKeyboardMarkup } from "grammy/types";
import { markdownEntities } from "./markdown-entities.ts";
import { errorOfApi } from "./telegram-api.ts";
import { messageCharsMax } from "./telegram-limits.ts";

/** A chat of Telegram and, in a group with topics, the topic. */
interface Target {
  readonly chat: number;
  readonly thread: { readonly message_thread_id?: number };
}

/** The place of a chat: its id, and that of a topic. */
export const placeOf = (chat: number, topic: number | undefined): string => (topic === undefined ? `${chat}` : `${chat}/${topic}`);

function targetOf(place: string): Target {
  const [chat = "", topic] = place.split("/");
  return { chat: Number(chat), thread: topic === undefined ? {} : { message_thread_id: Number(topic) } };
}

/** Rendered text may be longer than its Markdown where lists are long: then its text is cut without markup. */
const markdownCharsMax = 3_900;

/** Chats of Telegram through one bot. */
export function telegramSurface(api: Api): ChatSurface {
  return {
    name: "telegram",
    textCharsMax: markdownCharsMax,
    send: (place, markdown, buttons) =>
      translated(async () => {
        const { chat, thread } = targetOf(place);
        const { first, more } = rendered(markdown);
        const keyboard = buttons === undefined ? {} : { reply_markup: keyboardOf(buttons) };
        const options = { ...thread, ...keyboard, link_preview_options: { is_disabled: true } };
        const { message_id: id } = await api.sendMessage(chat, first.text, { ...options, entities: first.entities });
        for (const text of more) await api.sendMessage(chat, text, thread);
        return String(id);
      }),
    edit: (place, message, markdown) =>
      translated(async () => {
        const { first } = rendered(markdown);
        try {
          await api.editMessageText(targetOf(place).chat, Number(message), first.text, { entities: first.entities });
          return true;
        } catch (error) {
          const reason = error instanceof Error ? error.message : "";
          // A message that was edited before, by an attempt whose answer was lost, needs nothing more.
          if (/not modified/i.test(reason)) return true;
          if (/message to edit not found|message can't be edited/i.test(reason)) return false;
          throw error;
        }
      }),
    sendFile: (place, { name, text }) =>
      translated(async () => {
        const { chat, thread } = targetOf(place);
        await api.sendDocument(chat, new InputFile(Buffer.from(text), name), thread);
      }),
    showWorking: (place) =>
      translated(async () => {
        const { chat, thread } = targetOf(place);
        await api.sendChatAction(chat, "typing", thread);
      }),
  };
}

/** A message that fits, and what is left of it as plain text. */
function rendered(markdown: string): { readonly first: ReturnType<typeof markdownEntities>; readonly more: readonly string[] } {
  const marked = markdownEntities(markdown);
  if (marked.text === "") return { first: { text: markdown, entities: [] }, more: [] };
  if (marked.text.length <= messageCharsMax) return { first: marked, more: [] };
  const [text = "", ...more] = splitMarkdown(marked.text, messageCharsMax);
  return { first: { text, entities: [] }, more };
}

const keyboardOf = (buttons: readonly ChatButton[]): InlineKeyboardMarkup => ({
  inline_keyboard: [buttons.map(({ id, label }) => ({ text: label, callback_data: id }))],
});

async function translated<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw errorOfApi(error);
  }
}
