import type { AgentSession } from "@loopwright/core";
import type { Workplace } from "../compose/workplace.ts";
import type { Style } from "../terminal/style.ts";

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
  readonly workplace: Workplace;
  readonly session: AgentSession;
  readonly style: Style;
  readonly input: TerminalInput;
  readonly output: TerminalScreen;
}

/** What a person types to come back. */
export function resumeCommand(session: AgentSession): string {
  return `Resume: loopwright chat --resume ${session.id}`;
}
