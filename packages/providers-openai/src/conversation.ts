import type { Json, JsonObject, Message } from "@loopwright/core";

/** Turns a conversation into what the wire takes, message by message. */
export interface ConversationWriter {
  /** What the messages so far became. A later message may replace its last element, never an earlier one. */
  readonly items: readonly JsonObject[];
  add(message: Message): void;
  /** What stands at the end as long as nothing follows. */
  closing(): readonly JsonObject[];
}

/** The messages of one conversation as the last request sent them. */
interface Sent {
  readonly writer: ConversationWriter;
  readonly messages: Message[];
  /** JSON of the first `settled` items, in order; several items may share a text. */
  texts: string[];
  settled: number;
}

/**
 * Gives the items of a request's messages. Where they continue those of an earlier request, only the new ones are written and the old ones'
 * text is copied: a turn does not pay for the history a second time.
 */
export function createConversations(
  start: () => ConversationWriter,
): (messages: readonly Message[], before?: readonly JsonObject[]) => Json[] {
  const all = new WeakMap<Message, Sent>();
  return (messages, before = []) => {
    const [first] = messages;
    if (first === undefined) return [...before];
    const known = all.get(first);
    const sent: Sent =
      known !== undefined && continues(messages, known.messages) ? known : { writer: start(), messages: [], texts: [], settled: 0 };
    // Kept again below: a message that cannot be written leaves nothing half done behind.
    all.delete(first);
    for (let at = sent.messages.length; at < messages.length; at++) {
      const message = messages[at] as Message;
      sent.writer.add(message);
      sent.messages.push(message);
    }
    all.set(first, sent);
    const closing = sent.writer.closing();
    const items = [...before, ...sent.writer.items, ...closing];
    settle(sent);
    const open = sent.writer.items.slice(sent.settled);
    written.set(items, [...before.map(textOf), ...sent.texts, ...open.map(textOf), ...closing.map(textOf)]);
    return items;
  };
}

/** The texts that a list of items consists of. */
const written = new WeakMap<readonly Json[], readonly string[]>();

/** Keeps the text of a list that stands in many bodies. It must not be changed any more. */
export function keepText(items: readonly Json[]): void {
  written.set(items, items.map(textOf));
}

/** The body as JSON text, with the texts of a conversation as they were written. Put together at once: a long history is copied once. */
export function bodyText(body: JsonObject): string {
  const pieces: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    pieces.push(pieces.length === 0 ? "{" : ",", textOf(name), ":");
    const texts = Array.isArray(value) ? written.get(value) : undefined;
    if (texts === undefined) pieces.push(textOf(value));
    else addList(pieces, texts);
  }
  pieces.push(pieces.length === 0 ? "{}" : "}");
  return pieces.join("");
}

function addList(pieces: string[], texts: readonly string[]): void {
  let before = "[";
  for (const text of texts) {
    pieces.push(before, text);
    before = ",";
  }
  pieces.push(texts.length === 0 ? "[]" : "]");
}

const textOf = (value: Json): string => JSON.stringify(value);

function continues(messages: readonly Message[], sent: readonly Message[]): boolean {
  if (sent.length > messages.length) return false;
  for (let at = 0; at < sent.length; at++) if (sent[at] !== messages[at]) return false;
  return true;
}

/** Writes what can change no more: all but the last item. Old texts are joined now and then, so that they never become many. */
function settle(sent: Sent): void {
  const { items } = sent.writer;
  if (sent.settled >= items.length - 1) return;
  for (const item of items.slice(sent.settled, -1)) sent.texts.push(textOf(item));
  sent.settled = items.length - 1;
  if (sent.texts.length > textsMax) sent.texts = [sent.texts.join(",")];
}

const textsMax = 32;
