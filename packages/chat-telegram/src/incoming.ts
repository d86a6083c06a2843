import type { ChatMessage, ChatPress } from "@loopwright/chat-kit";
import type { Message, Update, User, UserFromGetMe } from "grammy/types";
import { placeOf } from "./telegram-surface.ts";

/** What an update is to the bridge; `undefined` for one that is not for the bot. */
export type Incoming = { readonly message: ChatMessage } | { readonly press: ChatPress; readonly query: string } | undefined;

/** What an update is: a message to the bot, or a button that was pressed. In groups only what names the bot or answers it is for the bot. */
export function incomingOf(update: Update, bot: UserFromGetMe): Incoming {
  const { callback_query: query, message } = update;
  if (query) {
    const { message: asked, data, from } = query;
    if (!asked || data === undefined) return undefined;
    const topic = "is_topic_message" in asked && asked.is_topic_message ? asked.message_thread_id : undefined;
    return { press: { place: placeOf(asked.chat.id, topic), person: personOf(from), button: data }, query: query.id };
  }
  if (!message?.from || message.from.is_bot) return undefined;
  const isPrivate = message.chat.type === "private";
  const text = (message.text ?? message.caption ?? "").trim();
  const words = isPrivate ? commandWords(text, bot) : wordsForBot(message, text, bot);
  if (words === undefined || words === "") return undefined;
  const topic = message.is_topic_message ? message.message_thread_id : undefined;
  return {
    message: {
      key: `${bot.id}-${update.update_id}`,
      place: placeOf(message.chat.id, topic),
      isPrivate,
      person: personOf(message.from),
      text: words,
    },
  };
}

const personOf = ({ id, first_name: first, last_name: last }: User): ChatMessage["person"] => ({
  id: String(id),
  name: last === undefined ? first : `${first} ${last}`,
});

/** `/stop@bot` as `/stop`; `undefined` for the command of another bot. */
function commandWords(text: string, bot: UserFromGetMe): string | undefined {
  const [, command = "", name, rest = ""] = /^(\/[a-z0-9_]+)(?:@(\w+))?(?=\s|$)([\s\S]*)$/i.exec(text) ?? [];
  if (command === "") return text;
  return name === undefined || isName(name, bot) ? `${command.toLowerCase()}${rest}` : undefined;
}

/** The words of a message in a group, without the mention; `undefined` for one that is for others. */
function wordsForBot(message: Message, text: string, bot: UserFromGetMe): string | undefined {
  if (text.startsWith("/")) return commandWords(text, bot);
  const mention = (message.entities ?? message.caption_entities ?? []).find((entity) => {
    if (entity.type === "text_mention") return entity.user.id === bot.id;
    const whole = message.text ?? message.caption ?? "";
    return entity.type === "mention" && isName(whole.slice(entity.offset + 1, entity.offset + entity.length), bot);
  });
  if (mention) {
    const whole = message.text ?? message.caption ?? "";
    return `${whole.slice(0, mention.offset)}${whole.slice(mention.offset + mention.length)}`.replace(/ {2,}/g, " ").trim();
  }
  return message.reply_to_message?.from?.id === bot.id ? text : undefined;
}

const isName = (name: string, bot: UserFromGetMe): boolean => name.toLowerCase() === bot.username.toLowerCase();
