import type { Access, AgentSession } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { DeclaredTool, JsonObject, Message } from "@loopwright/core/protocol";

/** What a new session begins with. */
export interface NewSession {
  /** Default: a new one. */
  readonly id?: string | undefined;
  /** Default: the first agent. */
  readonly agent?: string | undefined;
  readonly title?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly messages?: readonly Message[] | undefined;
  readonly tools?: readonly DeclaredTool[] | undefined;
  readonly systemPrompt?: string | undefined;
}

/** A session that is loaded here. Give it back with `release`. */
export interface HostedSession {
  readonly ref: SessionRef;
  /** Name of its agent. */
  readonly agent: string;
  readonly session: AgentSession;
  /** Twice is once. */
  release(): void;
  /** True once this process has let go of it all the same: its store was lost, it was removed, or the process ends. */
  readonly isGone: boolean;
}

/** A session of this process, for what is kept beside it as long as it is loaded: the feed of its events, for example. */
export interface LoadedSession {
  readonly ref: SessionRef;
  readonly session: AgentSession;
  /** Keeps the session loaded until the function it gives is called. Twice is once. */
  use(): () => void;
  /** Calls the listener once this process has let go of the session. */
  onGone(listener: () => void): void;
}

export interface CloseOptions {
  /** What runs is given to another node in order, which may take half a second, not left as after a crash. Default false. */
  readonly handsOver?: boolean;
}

/** What was let go of by the end. */
export interface ClosedSessions {
  /** How many ran here. */
  readonly ran: number;
  /** Those, and those whose claim was in progress: to be offered to other processes. */
  readonly left: readonly SessionRef[];
}

/** The sessions that are loaded in this process: one handle each, shared by all requests and streams, let go when nobody uses it. */
export interface SessionHost {
  /** @throws AgentError SESSION_NOT_FOUND, AGENT_NOT_FOUND, STORE_*, SESSION_CORRUPT, SESSION_TOO_NEW */
  open(ref: SessionRef): Promise<HostedSession>;
  /** A session that the store does not have yet: durable with its first input, or `session.open()`. @throws AgentError SESSION_EXISTS, AGENT_NOT_FOUND, CONFIG_INVALID */
  create(access: Access, wanted: NewSession): Promise<HostedSession>;
  /** Stops what runs, ends its streams and deletes the session for good. @throws AgentError SESSION_NOT_FOUND, STORE_* */
  remove(ref: SessionRef): Promise<void>;
  /** Calls the listener with every session that is loaded from now on, before anybody else has it, and at once with those that are loaded already. */
  onLoad(listener: (loaded: LoadedSession) => void): void;
  /** Evicts a session that has no user here and does not run here: another node runs it. */
  letGo(ref: SessionRef): void;
  /** Name of this process in leases. */
  readonly node: string;
  /** The handle of a session that is loaded here. */
  loadedSession(ref: SessionRef): AgentSession | undefined;
  /** The open run of a session that is loaded here. */
  runOf(ref: SessionRef): string | undefined;
  /** Sessions loaded, and those of them that run here. */
  readonly loaded: number;
  readonly running: number;
  /** Lets go of all: what runs is signalled and left to the next owner. */
  close(options?: CloseOptions): Promise<ClosedSessions>;
}
