/*
 * Owns: the message that stands for an answer until it is there.
 * Invariants
 *  I1 a chat has at most one such message, and the answer takes its place; I2 what fails here is not repeated: the answer comes all the same.
 */
import { type Clock, isAgentError } from "@loopwright/core/protocol";
import { interimSlackChars } from "./chat-limits.ts";
import type { ChatSurface } from "./chat-surface.ts";
import { words } from "./chat-words.ts";
import type { Places } from "./places.ts";
import { splitMarkdown } from "./split-markdown.ts";
import { workingSign } from "./working-sign.ts";

/** Shows in a chat that an answer is being made, where it takes long by a message that the answer replaces. */
export interface InterimMessage {
  work(): void;
  rest(): void;
  /** Shows the text as far as it was streamed, where the surface has such messages. */
  stream(text: string): void;
  /** The answer is there: a message that is not sent yet is not needed. */
  answered(): void;
}

interface InterimParts {
  readonly surface: ChatSurface;
  readonly places: Places;
  readonly clock: Pick<Clock, "after">;
  readonly place: string;
  readonly session: string;
  readonly inTurn: (run: () => Promise<void>) => Promise<void>;
}

/** The sign of one chat that an answer is being made. */
export function interimMessage(parts: InterimParts): InterimMessage {
  const { surface, places, clock, place, inTurn } = parts;
  let isDue = false;
  const stream = streamedMessage(parts);
  const send = async (): Promise<void> => {
    if (!isDue || places.get(place)?.interim !== undefined) return;
    isDue = false;
    await show(parts, words.working).catch(() => {});
  };
  const begin = (): void => {
    isDue = true;
    void inTurn(send);
  };
  const sign = workingSign({
    clock,
    show: () => surface.showWorking(place).catch(() => {}),
    interim: surface.interimAfterMs === undefined ? undefined : { afterMs: surface.interimAfterMs, send: begin },
  });
  const answered = (): void => {
    isDue = false;
    stream.end();
  };
  return {
    work: () => sign.begin(),
    stream: (text) => stream.add(text),
    answered,
    rest() {
      answered();
      sign.end();
    },
  };
}

/** Sends the message, or gives the one that is there another text. */
async function show({ surface, places, place, session }: InterimParts, markdown: string): Promise<void> {
  const interim = places.get(place)?.interim;
  if (interim !== undefined && (await surface.edit(place, interim, markdown))) return;
  places.change(place, session, { interim: await surface.send(place, markdown) });
}

/** Shows the newest text once in `streamEveryMs`, later where the vendor asks for it. */
function streamedMessage(parts: InterimParts): { add(text: string): void; end(): void } {
  const { surface, clock, inTurn } = parts;
  const { streamEveryMs: everyMs } = surface;
  let text = "";
  let shown = "";
  let waitMs = 0;
  let cancel: (() => void) | undefined;
  const update = async (): Promise<void> => {
    const [beginning = ""] = splitMarkdown(text, surface.textCharsMax - interimSlackChars);
    try {
      if (beginning !== "" && beginning !== shown) await show(parts, words.streaming(beginning));
      shown = beginning;
      waitMs = 0;
    } catch (error) {
      waitMs = isAgentError(error) ? (error.retryAfterMs ?? 0) : 0;
    }
    cancel = undefined;
  };
  return {
    add(next) {
      text = next;
      if (everyMs !== undefined && text !== "") cancel ??= clock.after(Math.max(everyMs, waitMs), () => void inTurn(update));
    },
    end() {
      cancel?.();
      cancel = undefined;
      text = "";
      shown = "";
    },
  };
}
