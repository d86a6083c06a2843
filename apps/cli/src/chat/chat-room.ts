import type { Style } from "../terminal/style.ts";
import type { ChatPlace } from "./chat-place.ts";
import type { ChatSession } from "./chat-session.ts";

/** Where a person types. */
export interface TerminalInput extends NodeJS.ReadableStream {
  setRawMode(isRaw: boolean): unknown;
}

/** Where a person looks. */
export interface TerminalScreen extends NodeJS.WritableStream {
  readonly columns: number;
  readonly rows: number;
}

/** What every form of chat is given. */
export interface ChatRoom {
  readonly place: ChatPlace;
  readonly session: ChatSession;
  readonly style: Style;
  readonly input: TerminalInput;
  readonly output: TerminalScreen;
}
