import type { CallOutcome, Cost, PendingApproval, PendingToolCall, Usage } from "@loopwright/core";

/** One thing on the screen. Its text holds nothing that a terminal acts upon. */
export type Block =
  | {
      readonly kind: "user";
      readonly id: string;
      readonly text: string;
      readonly isDone: true;
      /** From the transcript of a resumed session. */
      readonly isPast: boolean;
    }
  | { readonly kind: "text"; readonly id: string; readonly text: string; readonly isDone: boolean }
  | {
      readonly kind: "thinking";
      readonly id: string;
      readonly text: string;
      readonly isDone: boolean;
      /** Milliseconds since the epoch of the first piece. */
      readonly since: number;
      readonly durationMs?: number;
    }
  | ToolBlock
  | { readonly kind: "notice"; readonly id: string; readonly tone: Tone; readonly lines: readonly string[]; readonly isDone: true };

export type Tone = "quiet" | "warning" | "error";

export interface ToolBlock {
  readonly kind: "tool";
  /** The call key, or a lane's own name before it is known. */
  readonly id: string;
  /** Where it stands in the answer that it was written in: lane and index. It stays when the call key is known. */
  readonly place?: string;
  readonly name: string;
  readonly label: string;
  /** `writing`: the model writes the arguments; `asking`: the caller runs it. */
  readonly phase: "writing" | "waiting" | "running" | "asking" | "ended";
  /** JSON text. */
  readonly args: string;
  /** What the tool gave, as far as it came. */
  readonly output: string;
  readonly step?: string;
  readonly outcome?: CallOutcome;
  readonly since: number;
  readonly durationMs?: number;
  readonly isDone: boolean;
}

/** A child that worked for a session, or for one of its children. */
export interface ScreenAgent {
  readonly session: string;
  /** As the terminal may show it. */
  readonly name: string;
  /** The session of the child that began it; absent: the session of the screen did. */
  readonly parent?: string;
  readonly isDone: boolean;
  /** The tool that it runs now. */
  readonly tool?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** What runs now, for the footer. */
export type Activity = "idle" | "waiting" | "thinking" | "writing" | "tools" | "asking" | "aborting" | "retrying";

/** Everything a chat shows, derived from events alone. */
export interface Screen {
  /** In the order in which they stand; the ones before the first that is not done never change again. */
  readonly blocks: readonly Block[];
  readonly activity: Activity;
  readonly provider?: string;
  readonly model?: string;
  /** Of everything folded. */
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Tokens of the last model call: what counts against the window. */
  readonly contextTokens?: number;
  /** Children, in the order in which they began. */
  readonly agents: readonly ScreenAgent[];
  readonly pending: readonly PendingToolCall[];
  /** Calls that wait for the person's approval. */
  readonly approvals: readonly PendingApproval[];
  /** Seq of the open `model.started`; the ids of its blocks begin with it. */
  readonly lane?: number;
  readonly retryAt?: number;
}

/** The screen before anything happened. */
export const emptyScreen: Screen = { blocks: [], activity: "idle", agents: [], pending: [], approvals: [] };
