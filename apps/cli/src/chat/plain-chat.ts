import { createInterface, type Interface } from "node:readline";
import { proseWidth } from "../flags.ts";
import { createScreenWriter } from "../screen/screen-writer.ts";
import type { ChatRoom } from "./chat-room.ts";
import { type Conversation, createConversation } from "./conversation.ts";
import { questionLines } from "./question-lines.ts";
import { runSlashCommand } from "./slash-command.ts";

/** How words of the person are shown: the terminal shows what is typed by itself. */
interface AppendOptions {
  readonly isEchoed: boolean;
}

/** Prints what is finished, and nothing twice. */
export function appendOnly(room: ChatRoom, { isEchoed }: AppendOptions): { readonly conversation: Conversation; flush(): void } {
  const writer = createScreenWriter();
  const flush = (): void => {
    const frame = { width: proseWidth(room.output), style: room.style };
    const view = { frame, liveMax: Number.MAX_SAFE_INTEGER, showThinking: false, hasKeys: false, showTools: false, now: Date.now() };
    const { screen } = conversation;
    const shown = isEchoed ? { ...screen, blocks: screen.blocks.filter((block) => block.kind !== "user" || block.isPast) } : screen;
    const { finished } = writer.write(shown, view);
    if (finished.length > 0) room.output.write(`${finished.join("\n")}\n`);
  };
  const conversation: Conversation = createConversation(room.session, flush);
  return { conversation, flush };
}

/** Talks line by line: everything is appended, nothing is redrawn. Ctrl+C stops the agent, or leaves when it rests. */
export async function plainChat(given: ChatRoom): Promise<void> {
  const lines = createInterface({ input: given.input, output: given.output });
  given.output.write(`${given.place.introduction}\nNothing is sent before you ask. /help lists the commands.\n`);
  let room: ChatRoom | undefined = given;
  while (room) room = await talk(room, lines);
  lines.close();
}

/** One session; returns the next one where a new one was asked for. */
async function talk(room: ChatRoom, lines: Interface): Promise<ChatRoom | undefined> {
  const { conversation } = appendOnly(room, { isEchoed: true });
  let next: ChatRoom | undefined;
  let isOver = false;
  let model = room.session.model ?? room.place.defaultModel;
  const onInterrupt = (): void => {
    if (conversation.isBusy) void conversation.abort();
    else lines.close();
  };
  lines.on("SIGINT", onInterrupt);
  conversation.begin();
  while (!isOver) {
    await conversation.rest();
    const { question, page } = conversation;
    const frame = { width: proseWidth(room.output), style: room.style };
    if (question) room.output.write(`\n${questionLines(question, frame, page).join("\n")}`);
    const text = await ask(lines, question ? "\n? " : "\n> ");
    if (text === undefined) {
      room.output.write("\n");
      break;
    }
    if (text.trim() === "") continue;
    const isCommand = await runSlashCommand(text, {
      place: room.place,
      conversation,
      model,
      useModel: (name) => {
        model = name;
        conversation.useModel(name);
      },
      startNew: async () => {
        next = { ...room, session: await room.place.open(undefined) };
        isOver = true;
      },
      quit: () => {
        isOver = true;
      },
    });
    if (!isCommand) conversation.send(text);
  }
  lines.off("SIGINT", onInterrupt);
  const { isKept } = conversation.session;
  await conversation.end();
  if (isKept) room.output.write(`Resume: ${room.place.resumeCommand(conversation.session.id)}\n`);
  return next;
}

/** The next line; `undefined` when the input is at its end. */
function ask(lines: Interface, prompt: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const onClose = (): void => resolve(undefined);
    lines.once("close", onClose);
    lines.question(prompt, (text) => {
      lines.off("close", onClose);
      resolve(text);
    });
  });
}
