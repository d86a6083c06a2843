import type { Access, DeclaredTool } from "../loop/fact.ts";
import type { JsonObject } from "../message/json.ts";
import type { Message } from "../message/message.ts";

/** The session of a handle, and what a new session begins with: the options of `createSession` and of `runtime.session`. */
export interface SessionBeginning {
  /** `[a-z0-9][a-z0-9_-]{0,63}`. An id that the store knows restores that session. Default: a new one. */
  readonly id?: string;
  /** The acting user and scope. Default: both `local`. */
  readonly access?: Access;
  /** Messages that a new session begins with; ignored when the session exists. */
  readonly context?: readonly Message[];
  /**
   * Client tools that come with a new session, and a prompt in place of the agent's. The log keeps them, and a restored session has them from there:
   * leave them out then. If they differ from those in the log, the first use fails with SESSION_AGENT_MISMATCH.
   */
  readonly tools?: readonly DeclaredTool[];
  readonly prompt?: string;
  readonly title?: string;
  readonly metadata?: JsonObject;
  /** False: this handle records inputs and follows the session, but never runs it; another handle, here or on another node, must do that. Default true. */
  readonly drives?: boolean;
}
