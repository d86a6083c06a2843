import type { Access, AgentSession } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { DeclaredTool, JsonObject, Message } from "@loopwright/core/protocol";

/** What a new session begins with. */
export interface NewSession {
  /** Default: a new id. */
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
  /** A second call does nothing. */
  release(): void;
  /** True after the host has released the session for another reason than `release`: its log was lost, it was removed, or the process ends. */
  readonly isGone: boolean;
}

/** A session of this process, for data that is kept beside it while it is loaded: the feed of its events, for example. */
export interface LoadedSession {
  readonly ref: SessionRef;
  readonly session: AgentSession;
  /** Keeps the session loaded until the returned function is called. A second call of that function does nothing. */
  use(): () => void;
  /** Calls the listener when this process has released the session. */
  onGone(listener: () => void): void;
}

export interface CloseOptions {
  /** Hands open runs over to another node, which may take half a second, instead of leaving them as after a crash. Default false. */
  readonly handsOver?: boolean;
}

/** The sessions that were released by `close`. */
export interface ClosedSessions {
  /** The number of sessions that ran here. */
  readonly ran: number;
  /** The sessions to offer to other processes: those that ran here, and those that this process was about to claim. */
  readonly left: readonly SessionRef[];
}

/** The sessions that are loaded in this process: one handle each, shared by all requests and streams, and evicted when it has no user. */
export interface SessionHost {
  /** @throws AgentError SESSION_NOT_FOUND, AGENT_NOT_FOUND, STORE_*, SESSION_CORRUPT, SESSION_TOO_NEW */
  open(ref: SessionRef): Promise<HostedSession>;
  /**
   * Creates a session. It is in the store only after its first input, or `session.open()`. @throws AgentError SESSION_EXISTS, AGENT_NOT_FOUND, CONFIG_INVALID
   */
  create(access: Access, wanted: NewSession): Promise<HostedSession>;
  /** Stops the run of the session, ends its streams, and deletes the session and its children for good. @throws AgentError SESSION_NOT_FOUND, SESSION_HELD if it or a child is under a hold, STORE_* */
  remove(ref: SessionRef): Promise<void>;
  /**
   * Deletes the session and its children if its retention has passed or its deletion has begun. False if it is kept, for example because of a hold on a
   * child. `keepMs`: the retention of its scope, after which the session is deleted unless it has an open run. @throws AgentError SESSION_NOT_FOUND, STORE_*
   */
  removeExpired(ref: SessionRef, options?: { readonly keepMs?: number }): Promise<boolean>;
  /** Calls the listener at once with each loaded session, and later with each session that is loaded, before any caller gets it. */
  onLoad(listener: (loaded: LoadedSession) => void): void;
  /** Evicts a session that another node runs. Does nothing while the session has a user here or runs here. */
  letGo(ref: SessionRef): void;
  /** Name of this process in leases. */
  readonly node: string;
  /** The handle of a session that is loaded here. */
  loadedSession(ref: SessionRef): AgentSession | undefined;
  /** The open run of a session that is loaded here. */
  runOf(ref: SessionRef): string | undefined;
  /** How many sessions are loaded, and how many of these run here. */
  readonly loaded: number;
  readonly running: number;
  /** Releases all sessions: running effects get an abort signal, and open runs are left to the next owner. */
  close(options?: CloseOptions): Promise<ClosedSessions>;
}
