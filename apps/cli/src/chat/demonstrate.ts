import type { ChatRoom } from "./chat-room.ts";
import { appendOnly } from "./plain-chat.ts";

/** What the demonstration asks, one after the other. */
export const demonstrationInputs: readonly string[] = [
  "think about what an agent is",
  "what is 6 * 7?",
  "what time is it and what is 12 * 12?",
  "retry",
  "error",
];

/** Shows the offline model at work: text, a tool, several tools at once, a failed attempt that is made again, an error explained. */
export async function demonstrate(room: ChatRoom): Promise<void> {
  room.output.write(
    "There is no terminal, so this is a short demonstration on the offline model: no network, no key.\nIn a terminal this command lets you talk. `loopwright ask` answers one question.\n\n",
  );
  await show(room, demonstrationInputs);
  room.output.write(`\nThat was the demonstration; its session is kept.\nResume: ${room.place.resumeCommand(room.session.id)}\n`);
}

/** Shows a session without a terminal, and continues a run that a crash cut off. */
export async function showResumed(room: ChatRoom): Promise<void> {
  await show(room, []);
  room.output.write(`\nResume: ${room.place.resumeCommand(room.session.id)}\n`);
}

async function show(room: ChatRoom, inputs: readonly string[]): Promise<void> {
  const { conversation, flush } = appendOnly(room, { isEchoed: false });
  conversation.begin();
  await conversation.rest();
  for (const input of inputs) {
    conversation.send(input);
    await conversation.rest();
  }
  flush();
  await conversation.end();
}
