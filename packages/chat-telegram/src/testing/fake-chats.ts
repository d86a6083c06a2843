import type { InlineKeyboardMarkup, Message, MessageEntity, Update } from "grammy/types";

/** A message or a file that the bot has sent. */
export interface SentByBot {
  readonly id: number;
  readonly chat: number;
  text: string;
  entities: readonly MessageEntity[];
  buttons: readonly { readonly label: string; readonly data: string }[];
  readonly file?: { readonly name: string; readonly text: string };
  readonly topic?: number;
}

/** What the Bot API answers: a result, or a refusal. */
export type Answer =
  | { readonly ok: true; readonly result: unknown }
  | {
      readonly ok: false;
      readonly error_code: number;
      readonly description: string;
      readonly parameters?: { readonly retry_after: number };
    };

/** The parameters of a request. */
export type Fields = Readonly<Record<string, unknown>>;

export const refusal = (code: number, description: string): Answer => ({ ok: false, error_code: code, description });
const badRequest = (description: string): Answer => refusal(400, `Bad Request: ${description}`);

const textCharsMax = 4_096;
const buttonBytesMax = 64;

/** The chats of a bot: what people wrote and have not seen answered, and what the bot has sent. */
export interface FakeChats {
  readonly sent: SentByBot[];
  readonly actions: { readonly chat: number; readonly action: string }[];
  readonly answers: { readonly query: string; readonly text: string }[];
  readonly queries: Set<string>;
  /** Chats in which the bot may not write any more. */
  readonly blocked: Set<number>;
  readonly known: Set<number>;
  readonly updates: Update[];
  nextId(): number;
}

/** No chats. */
export function fakeChats(): FakeChats {
  let id = 0;
  const lists = { sent: [], actions: [], answers: [], updates: [] };
  return { ...lists, queries: new Set(), blocked: new Set(), known: new Set(), nextId: () => ++id };
}

/** A request about a chat, checked as Telegram checks it. `undefined`: Telegram has no such method here. */
export function answerInChat(chats: FakeChats, method: string, fields: Fields): Answer | undefined {
  if (method === "answerCallbackQuery") return answerQuery(chats, fields);
  const methods: { readonly [name: string]: (chats: FakeChats, fields: Fields) => Answer } = {
    ...{ sendMessage, editMessageText, sendDocument, sendChatAction },
  };
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!run) return undefined;
  const chat = Number(fields["chat_id"]);
  if (!chats.known.has(chat)) return badRequest("chat not found");
  if (chats.blocked.has(chat)) return refusal(403, "Forbidden: bot was blocked by the user");
  return run(chats, fields);
}

function answerQuery(chats: FakeChats, { callback_query_id: id, text = "" }: Fields): Answer {
  if (!chats.queries.delete(String(id))) return badRequest("query is too old and response timeout expired or query ID is invalid");
  if (String(text).length > 200) return badRequest("MESSAGE_TOO_LONG");
  chats.answers.push({ query: String(id), text: String(text) });
  return { ok: true, result: true };
}

function sendMessage(chats: FakeChats, fields: Fields): Answer {
  const wrong = wrongText(fields) ?? wrongButtons(fields);
  return wrong ?? { ok: true, result: asMessage(keep(chats, fields)) };
}

function editMessageText(chats: FakeChats, fields: Fields): Answer {
  const found = chats.sent.find(({ id, chat }) => id === Number(fields["message_id"]) && chat === Number(fields["chat_id"]));
  if (!found) return badRequest("message to edit not found");
  const wrong = wrongText(fields) ?? wrongButtons(fields);
  if (wrong) return wrong;
  const buttons = buttonsOf(fields);
  if (found.text === fields["text"] && buttons.length === found.buttons.length) return badRequest("message is not modified");
  Object.assign(found, { text: String(fields["text"]), entities: entitiesOf(fields), buttons });
  return { ok: true, result: asMessage(found) };
}

function sendDocument(chats: FakeChats, fields: Fields): Answer {
  const file = fields["document"] as { readonly name: string; readonly text: string } | undefined;
  if (!file || typeof file !== "object") return badRequest("there is no document in the request");
  if (file.text === "") return badRequest("file must be non-empty");
  return { ok: true, result: asMessage(keep(chats, fields, file)) };
}

function sendChatAction(chats: FakeChats, fields: Fields): Answer {
  const action = String(fields["action"]);
  if (!["typing", "upload_document"].includes(action)) return badRequest("wrong parameter action in request");
  chats.actions.push({ chat: Number(fields["chat_id"]), action });
  return { ok: true, result: true };
}

function keep(chats: FakeChats, fields: Fields, file?: { readonly name: string; readonly text: string }): SentByBot {
  const topic = fields["message_thread_id"];
  const sent: SentByBot = {
    ...{ id: chats.nextId(), chat: Number(fields["chat_id"]), text: String(fields["text"] ?? "") },
    ...{ entities: entitiesOf(fields), buttons: buttonsOf(fields) },
    ...(file ? { file } : {}),
    ...(topic === undefined ? {} : { topic: Number(topic) }),
  };
  chats.sent.push(sent);
  return sent;
}

const asMessage = ({
  id,
  chat,
  text,
}: SentByBot): Pick<Message, "message_id" | "date"> & { readonly chat: unknown; readonly text: string } => ({
  ...{ message_id: id, date: 0, chat: { id: chat, type: chat < 0 ? "supergroup" : "private" }, text },
});

const entitiesOf = (fields: Fields): readonly MessageEntity[] => (fields["entities"] as readonly MessageEntity[] | undefined) ?? [];

function buttonsOf(fields: Fields): SentByBot["buttons"] {
  const markup = fields["reply_markup"] as InlineKeyboardMarkup | undefined;
  return (markup?.inline_keyboard ?? [])
    .flat()
    .map((button) => ({ label: button.text, data: "callback_data" in button ? button.callback_data : "" }));
}

function wrongText(fields: Fields): Answer | undefined {
  const { text } = fields;
  if (typeof text !== "string" || text.trim() === "") return badRequest("message text is empty");
  if (text.length > textCharsMax) return badRequest("message is too long");
  if (fields["parse_mode"] !== undefined) return badRequest("can't parse entities: this server takes stretches alone");
  const isWrong = entitiesOf(fields).some(
    (entity) =>
      entity.length < 1 ||
      entity.offset < 0 ||
      entity.offset + entity.length > text.length ||
      cutsPair(text, entity.offset) ||
      cutsPair(text, entity.offset + entity.length),
  );
  return isWrong ? badRequest("can't parse entities: ENTITY_BOUNDS_INVALID") : undefined;
}

/** Whether a place is within the two units of one character. */
const cutsPair = (text: string, at: number): boolean =>
  /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at));

function wrongButtons(fields: Fields): Answer | undefined {
  const isWrong = buttonsOf(fields).some(({ label, data }) => label === "" || data === "" || Buffer.byteLength(data) > buttonBytesMax);
  return isWrong ? badRequest("BUTTON_DATA_INVALID") : undefined;
}
