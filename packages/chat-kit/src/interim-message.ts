import type { Clock } from "@loopwright/core/protocol";
import type { ChatSurface } from "./chat-surface.ts";
import { words } from "./chat-words.ts";
import type { Places } from "./places.ts";
import { workingSign } from "./working-sign.ts";

/** Shows in a chat that an answer is being made, where it takes long by a message that the answer replaces. */
export interface InterimMessage {
  work(): void;
  rest(): void;
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
export function interimMessage({ surface, places, clock, place, session, inTurn }: InterimParts): InterimMessage {
  let isDue = false;
  const send = async (): Promise<void> => {
    if (!isDue || places.get(place)?.interim !== undefined) return;
    isDue = false;
    const interim = await surface.send(place, words.working).catch(() => undefined);
    if (interim !== undefined) places.change(place, session, { interim });
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
  return {
    work: () => sign.begin(),
    rest() {
      isDue = false;
      sign.end();
    },
    answered() {
      isDue = false;
    },
  };
}
