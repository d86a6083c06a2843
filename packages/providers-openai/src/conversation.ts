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
  /** JSON of the first `settled` items, without brackets. */
  text: string;
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
      known !== undefined && continues(messages, known.messages) ? known : { writer: start(), messages: [], text: "", settled: 0 };
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
    const pieces = [...before.map(textOf), settle(sent), ...sent.writer.items.slice(sent.settled).map(textOf), ...closing.map(textOf)];
    texts.set(items, `[${pieces.filter((piece) => piece !== "").join(",")}]`);
    return items;
  };
}

const texts = new WeakMap<readonly Json[], string>();

/** The body as JSON text, with the text of a conversation as it was written. */
export function bodyText(body: JsonObject): string {
  const members: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? texts.get(value) : undefined;
    members.push(`${textOf(name)}:${text ?? textOf(value)}`);
  }
  return `{${members.join(",")}}`;
}

const textOf = (value: Json): string => JSON.stringify(value);

const continues = (messages: readonly Message[], sent: readonly Message[]): boolean =>
  sent.length <= messages.length && sent.every((message, at) => message === messages[at]);

/** Writes what can change no more: all but the last item. */
function settle(sent: Sent): string {
  const { items } = sent.writer;
  if (sent.settled < items.length - 1) {
    const pieces = items.slice(sent.settled, -1).map(textOf);
    // Joined, not added: the result is one flat string, and not a tree of all the turns.
    sent.text = (sent.text === "" ? pieces : [sent.text, ...pieces]).join(",");
    sent.settled = items.length - 1;
  }
  return sent.text;
}
