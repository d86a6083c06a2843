import { AgentError, callsOf, type Message, systemText, textOf } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";

/** The version of the lines in both directions. */
const linesVersion = 1;

/** A message as the program reads it. */
type SentMessage =
  | { readonly role: "user" | "notice"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly calls: readonly SentCall[] }
  | { readonly role: "tool"; readonly callId: string; readonly content: string; readonly isError: boolean };

interface SentCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: object;
}

/** The line that the program is sent: everything of the request, with messages in a plain form. @throws AgentError MODEL_UNSUPPORTED for an image or a file */
export function requestLine({ system, messages, tools = [], stream: _, vendorOptions, ...wishes }: ModelRequest): string {
  const sent = {
    version: linesVersion,
    type: "request",
    ...wishes,
    ...(system === undefined ? {} : { system: systemText(system) }),
    messages: messages.map(sentMessage),
    tools,
    ...vendorOptions,
  };
  return `${JSON.stringify(sent)}\n`;
}

function sentMessage(message: Message): SentMessage {
  const content = contentOf(message);
  switch (message.role) {
    case "assistant":
      return { role: "assistant", content, calls: callsOf(message).map(({ id, name, args }) => ({ id, name, arguments: args })) };
    case "tool_result":
      return { role: "tool", callId: message.toolCallId, content, isError: message.isError === true };
    case "user":
    case "notice":
      return { role: message.role, content };
    default:
      return message satisfies never;
  }
}

/** The text of a message; structured data as JSON. */
function contentOf(message: Message): string {
  if (message.role === "notice" || message.role === "assistant" || typeof message.content === "string") return textOf(message);
  return message.content
    .map((part) => {
      if (part.type === "text") return part.text;
      if (part.type === "json") return JSON.stringify(part.value);
      throw new AgentError("MODEL_UNSUPPORTED", {
        message: `A program gets texts, and the conversation has ${part.type === "image" ? "an image" : "a file"}.`,
        fix: "Leave it out, or let a tool give the program what it needs of it.",
      });
    })
    .join("\n");
}
