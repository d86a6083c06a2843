import type { Agent } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";
import type { FilePart, ImagePart, ResultPart } from "../../message/content.ts";
import type { Message, ToolResultMessage, UserMessage } from "../../message/message.ts";
import { isTextType } from "../../message/text-media-type.ts";
import type { ModelCapabilities } from "../../ports/model-provider.ts";
import { isMedia, mediaOf } from "../../prompt/stored-media.ts";

type Taken = Pick<ModelCapabilities, "vision" | "files">;

/**
 * Refuses an image or a file before it is recorded if the model does not take it, because it could not be answered.
 * @throws AgentError MODEL_UNSUPPORTED
 */
export function checkMedia(message: UserMessage, { provider, model: own, hooks }: Agent, chosen: string | undefined): void {
  const media = mediaOf(message);
  // A hook may choose another model for the call; the request is checked against that model when it is sent.
  if (media.length === 0 || hooks.some(({ prepare }) => prepare)) return;
  const model = chosen ?? own;
  const capabilities = provider.capabilities(model);
  const refused = media.find((part) => !isTaken(part, capabilities));
  if (refused) throw unsupported(refused, model, capabilities);
}

/**
 * The messages as the model takes them: an earlier image or file that it does not take is left out with a note, so that a session continues after one was
 * refused, and with another model. @throws AgentError MODEL_UNSUPPORTED for one of the last input, or of a result since then
 */
export function takenMessages(messages: readonly Message[], model: string, capabilities: Taken): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === "user");
  return messages.map((message, place) => {
    const refused = mediaOf(message).find((part) => !isTaken(part, capabilities));
    if (!refused) return message;
    if (place >= last) throw unsupported(refused, model, capabilities);
    return withNotes(message as UserMessage | ToolResultMessage, capabilities);
  });
}

function isTaken({ type, mediaType }: ImagePart | FilePart, { vision, files }: Taken): boolean {
  if (type === "image") return vision;
  return (
    files === undefined ||
    isTextType(mediaType) ||
    files.some((known) => (known.endsWith("/*") ? mediaType.startsWith(known.slice(0, -1)) : mediaType === known))
  );
}

const withNotes = <M extends UserMessage | ToolResultMessage>(message: M, capabilities: Taken): M => ({
  ...message,
  content: (message.content as readonly ResultPart[]).map((part) =>
    isMedia(part) && !isTaken(part, capabilities)
      ? {
          type: "text",
          text: `[${part.type === "image" ? "An image" : "A file"} of type ${part.mediaType} is left out: this model does not take it]`,
        }
      : part,
  ),
});

function unsupported({ type, mediaType }: ImagePart | FilePart, name: string, { files = [] }: Taken): AgentError {
  const model = `the model \`${name.slice(0, 100)}\``;
  if (type === "image")
    return new AgentError("MODEL_UNSUPPORTED", {
      message: `The conversation holds an image, and ${model} has no vision.`,
      fix: "Choose a model with vision, or leave the image out.",
    });
  return new AgentError("MODEL_UNSUPPORTED", {
    message: `The conversation holds a file of type \`${mediaType.slice(0, 100)}\`, and ${model} takes ${["text", ...files].join(", ")}.`,
    fix: "Send it in one of these types, or choose another model.",
  });
}
