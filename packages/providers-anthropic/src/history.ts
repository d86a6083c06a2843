import { AgentError, type AssistantMessage, type Message, type ToolResultMessage } from "@loopwright/core";
import { renderAssistant, withoutServerUses } from "./assistant.ts";
import { type CallIds, cleanId, createCallIds } from "./call-ids.ts";
import { type Block, blocksOf } from "./content.ts";

/** One message of the wire; `system` only where the model allows it in mid-history. */
export interface WireMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: readonly Block[];
}

/** What the model takes. */
export interface HistoryRules {
  readonly vision: boolean;
  readonly systemInHistory: boolean;
}

/**
 * The messages as the vendor wants them: roles alternate, results come first in the turn after their calls, ids are unique
 * and of the vendor's alphabet, nothing is empty. Each message is rendered once; the rest is one cheap pass. What is sent for
 * a message does not change when others follow, because signatures of thinking are bound to all that stands before them.
 * @throws AgentError MODEL_UNSUPPORTED for images where the model has no vision, and for media that the vendor does not take.
 */
export function historyOf(messages: readonly Message[], rules: HistoryRules): readonly WireMessage[] {
  const wire: WireMessage[] = [];
  const ids = createCallIds();
  let turn: Block[] = [];
  /** The current turn has a message, perhaps with blank text only. */
  let spoke = true;

  const endTurn = (): void => {
    if (turn.length > 0) wire.push({ role: "user", content: turn });
    else if (spoke) wire.push({ role: "user", content: [{ type: "text", text: "(empty message)" }] });
    turn = [];
    spoke = false;
  };

  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (!message) continue;
    if (message.role === "assistant") {
      const content = assistantContent(messages, at, ids);
      if (content.length === 0) continue;
      endTurn();
      wire.push({ role: "assistant", content });
    } else if (message.role === "notice" && rules.systemInHistory && turn.length > 0 && mayEndTurn(messages, at)) {
      const content = noticesFrom(messages, at);
      endTurn();
      wire.push({ role: "system", content });
      at += content.length - 1;
    } else {
      const { blocks, hasImage } = render(message);
      spoke = true;
      if (hasImage && !rules.vision) throw withoutVision();
      if (message.role === "tool_result") turn.push(withResultId(blocks[0], ids.ofResult(message)));
      else turn.push(...blocks);
    }
  }
  endTurn();
  return wire;
}

function withoutVision(): AgentError {
  return new AgentError("MODEL_UNSUPPORTED", { message: "The conversation holds an image and the model has no vision." });
}

interface Rendered {
  readonly blocks: readonly Block[];
  readonly hasImage: boolean;
}

const rendered = new WeakMap<Message, Rendered>();

function render(message: Exclude<Message, AssistantMessage>): Rendered {
  let made = rendered.get(message);
  if (!made) {
    const parts = message.role === "notice" || typeof message.content === "string" ? [] : message.content;
    made = { blocks: blocksFrom(message), hasImage: parts.some((part) => part.type === "image") };
    rendered.set(message, made);
  }
  return made;
}

function blocksFrom(message: Exclude<Message, AssistantMessage>): readonly Block[] {
  if (message.role === "user") return blocksOf(message.content);
  if (message.role === "tool_result") return [resultBlock(message)];
  return [{ type: "text", text: `<system-notice>\n${message.text}\n</system-notice>` }];
}

function resultBlock(message: ToolResultMessage): Block {
  const content = blocksOf(message.content);
  const only = content.length === 1 && content[0]?.type === "text" ? content[0]["text"] : undefined;
  return {
    type: "tool_result",
    tool_use_id: cleanId(message.toolCallId),
    ...(content.length === 0 ? {} : { content: only ?? content }),
    ...(message.isError ? { is_error: true } : {}),
  };
}

function withResultId(block: Block | undefined, id: string | undefined): Block {
  if (block && (id === undefined || block["tool_use_id"] === id)) return block;
  return { ...block, type: "tool_result", ...(id === undefined ? {} : { tool_use_id: id }) };
}

/** A system message must follow a user turn and end the request or precede an assistant's. @see https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages (2026-11-21) */
function mayEndTurn(messages: readonly Message[], at: number): boolean {
  let next = at;
  while (messages[next]?.role === "notice") next++;
  const follower = messages[next];
  return follower === undefined || (follower.role === "assistant" && assistantContent(messages, next, createCallIds()).length > 0);
}

function noticesFrom(messages: readonly Message[], at: number): readonly Block[] {
  const blocks: Block[] = [];
  for (let next = at; ; next++) {
    const message = messages[next];
    if (message?.role !== "notice") return blocks;
    blocks.push({ type: "text", text: message.text });
  }
}

function assistantContent(messages: readonly Message[], at: number, ids: CallIds): readonly Block[] {
  const message = messages[at];
  if (message?.role !== "assistant") return [];
  const { blocks, calls, openServerUses } = renderAssistant(message);
  ids.beginTurn();
  let content = blocks;
  for (const call of calls) {
    const id = ids.ofCall(call.part, call.id);
    if (id === call.id) continue;
    content = content.map((block, index) => (index === call.at ? { ...block, id } : block));
  }
  if (openServerUses.length === 0 || isOpenTurn(messages, at)) return content;
  // An interrupted server tool has no result and never will; only the turn still open may wait for one.
  const dangling = openServerUses.filter((id) => !isAnswered(messages, at, id));
  return dangling.length === 0 ? content : withoutServerUses(content, dangling);
}

/** True for the last assistant message, as long as nothing but results stands behind it: any word ends the turn. */
function isOpenTurn(messages: readonly Message[], at: number): boolean {
  return messages.slice(at + 1).every(({ role }) => role === "tool_result");
}

/** Whether a later message has the result of a server tool. */
function isAnswered(messages: readonly Message[], at: number, id: string): boolean {
  return messages.slice(at + 1).some((message) => message.role === "assistant" && renderAssistant(message).serverResults.includes(id));
}
