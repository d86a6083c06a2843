import { AgentError, type Message, type NoticeMessage } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";

/** What was made of a message, kept for as long as the message lives: a turn costs its new messages alone. */
export interface RenderCache<Rendered> {
  /** The rendering of a message under a key, made where there is none. Only the last key's is kept. */
  get(message: Message, key: string, render: () => Rendered): Rendered;
}

/** An empty cache. */
export function createRenderCache<Rendered>(): RenderCache<Rendered> {
  const entries = new WeakMap<Message, { readonly key: string; readonly value: Rendered }>();
  return {
    get: (message, key, render) => {
      const found = entries.get(message);
      if (found?.key === key) return found.value;
      const value = render();
      entries.set(message, { key, value });
      return value;
    },
  };
}

const withImages = new WeakMap<Message, boolean>();

/** Refuses images for a model that cannot see, before anything is sent. @throws AgentError MODEL_UNSUPPORTED */
export function refuseImages(request: ModelRequest, label: string): void {
  if (!request.messages.some(hasImage)) return;
  throw new AgentError("MODEL_UNSUPPORTED", {
    message: `The model ${request.model} of ${label} cannot read images, and the conversation holds one.`,
    fix: "Choose a model that can, or send the image's content as text.",
  });
}

function hasImage(message: Message): boolean {
  let found = withImages.get(message);
  if (found === undefined) {
    found =
      (message.role === "user" || message.role === "tool_result") &&
      typeof message.content !== "string" &&
      message.content.some((part) => part.type === "image");
    withImages.set(message, found);
  }
  return found;
}

/** A notice as a text of the user's, marked so that no model takes it for the user's own word. */
export function noticeText(message: NoticeMessage): string {
  return `<runtime_notice>\n${message.text}\n</runtime_notice>`;
}

/** Replaces an empty output of a tool: several servers refuse an empty text. */
export const emptyOutput = "(no output)";
