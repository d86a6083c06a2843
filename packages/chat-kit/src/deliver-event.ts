/*
 * Owns: which message of a chat an event of its session becomes.
 */
import type { FollowedEvent } from "@loopwright/client";
import { type SessionSnapshot, textOf } from "@loopwright/core/protocol";
import type { ApprovalMessages, AskingChat } from "./approval-messages.ts";
import { messagesMax } from "./chat-limits.ts";
import type { ChatSurface } from "./chat-surface.ts";
import { words } from "./chat-words.ts";
import type { InterimMessage } from "./interim-message.ts";
import type { Places } from "./places.ts";
import { splitMarkdown } from "./split-markdown.ts";

/** A chat into which events are delivered. */
export interface DeliveringChat {
  readonly surface: ChatSurface;
  readonly places: Places;
  readonly approvals: ApprovalMessages;
  readonly chat: AskingChat;
  readonly interim: InterimMessage;
  /** Resolves when no message of the chat is just being recorded. */
  readonly settled: (place: string) => Promise<void>;
}

type DurableEvent = Extract<FollowedEvent, { readonly seq: number }>;

/** Delivers an event; true when the chat has got something. */
export async function deliverEvent(to: DeliveringChat, event: DurableEvent): Promise<boolean> {
  const { approvals, chat, interim } = to;
  switch (event.type) {
    case "input_accepted":
      return showInput(to, event);
    case "run_start":
    case "turn_start":
    case "tool_execution_start":
      interim.work();
      return false;
    case "message_end":
      if (event.message.role !== "assistant" || textOf(event.message).trim() === "") return false;
      interim.answered();
      return say(to, textOf(event.message));
    case "approval_requested":
      interim.rest();
      await approvals.ask(chat, event);
      return true;
    case "agent_waiting":
      for (const call of event.pendingApprovals) await approvals.ask(chat, call);
      return true;
    case "approval_decided":
      await approvals.close(chat, event);
      return true;
    default:
      return deliverEnd(to, event);
  }
}

/** Delivers what ends a run, or has it wait. */
async function deliverEnd(to: DeliveringChat, event: DurableEvent): Promise<boolean> {
  const { interim, places, chat } = to;
  switch (event.type) {
    case "awaiting_tool_execution":
      interim.rest();
      return say(to, words.needsClient(event.toolCalls.map(({ toolName }) => `\`${toolName}\``).join(", ")));
    case "error":
      interim.rest();
      return say(to, event.reason === "aborted" ? words.stopped : words.failed(event.error));
    case "run_end":
      interim.rest();
      return places.get(chat.place)?.interim === undefined ? false : say(to, words.ended);
    case "session_closed":
      interim.rest();
      return say(to, words.closed);
    default:
      return false;
  }
}

/** Asks what waits for people, and resolves with the cursor of the snapshot. Answers before it are not delivered any more. */
export async function deliverSnapshot({ approvals, chat }: DeliveringChat, { cursor, run }: SessionSnapshot): Promise<string> {
  for (const call of run?.pendingApprovals ?? []) await approvals.ask(chat, call);
  return cursor;
}

/** Shows an input from another place. */
async function showInput(to: DeliveringChat, event: Extract<FollowedEvent, { readonly type: "input_accepted" }>): Promise<boolean> {
  const { place } = to.chat;
  await to.settled(place);
  const record = to.places.get(place);
  const text = event.message === undefined ? "" : textOf(event.message);
  if (text.trim() === "" || record?.own.includes(event.inputId) || record?.sending === text) return false;
  return say(to, words.elsewhere(text));
}

/** Sends a text: in place of the interim message, as several messages, or as its beginning and a file. */
async function say({ surface, places, chat: { place, session, deliver } }: DeliveringChat, markdown: string): Promise<true> {
  const pieces = splitMarkdown(markdown, surface.textCharsMax);
  const isFile = pieces.length > messagesMax;
  const [beginning = ""] = isFile ? splitMarkdown(markdown, surface.textCharsMax - words.rest.length - 2) : [];
  for (const [index, piece] of (isFile ? [`${beginning}\n\n${words.rest}`] : pieces).entries()) {
    const interim = index === 0 ? places.get(place)?.interim : undefined;
    const isShown = interim !== undefined && (await deliver(() => surface.edit(place, interim, piece)));
    if (isShown !== true) await deliver(() => surface.send(place, piece));
    if (interim !== undefined) places.change(place, session, { interim: undefined });
  }
  if (isFile) await deliver(() => surface.sendFile(place, { name: "answer.md", mediaType: "text/markdown", text: markdown }));
  return true;
}
