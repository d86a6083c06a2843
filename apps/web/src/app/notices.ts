import { AgentError, isAgentError } from "@loopwright/core/protocol";
import { createWatched, type Watched } from "./watched.ts";

/** A short word of the page: something was done, or it went wrong. */
export interface Notice {
  readonly id: number;
  readonly text: string;
  /** Stays until it is dismissed. */
  readonly error?: AgentError;
}

/** The notices that are shown. */
export interface Notices extends Watched<readonly Notice[]> {
  say(text: string): void;
  fail(error: unknown): void;
  dismiss(id: number): void;
}

const shownMs = 4000;
const noticesMax = 3;

/** Notices of which the last three are shown. `later` runs something after a while. */
export function createNotices(later: (act: () => void, delayMs: number) => void = setTimeout): Notices {
  const { read, subscribe, put } = createWatched<readonly Notice[]>([]);
  let count = 0;
  const dismiss = (id: number): void => put(read().filter((notice) => notice.id !== id));
  const add = (notice: Omit<Notice, "id">): number => {
    const id = ++count;
    put([...read(), { ...notice, id }].slice(-noticesMax));
    return id;
  };
  return {
    read,
    subscribe,
    say(text) {
      const id = add({ text });
      later(() => dismiss(id), shownMs);
    },
    fail(error) {
      const known = errorOf(error);
      add({ text: known.message, error: known });
    },
    dismiss,
  };
}

/** The error as an AgentError; any other becomes INTERNAL with its own message. */
export function errorOf(error: unknown): AgentError {
  if (isAgentError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new AgentError("INTERNAL", {
    message,
    fix: "Load the page again. If it happens again, report it with what you did.",
    cause: error,
  });
}
