import type { JsonObject } from "../../message/json.ts";
import type { RunBudget } from "./run-options.ts";

/** The call of another session for which a session was created. */
export interface ParentLink {
  readonly session: string;
  readonly runId: string;
  /** Absent: a hook of the run created it. */
  readonly callKey?: string;
  /** Number of ancestors: 1 for the child of a session without a parent. */
  readonly depth: number;
  /** The least `depthMax` of the runs above. */
  readonly depthMax?: number;
  /** What all runs of the child together may spend, if the child was given a share. */
  readonly budget?: RunBudget;
  /** The call does not wait for the child, whose end becomes an input of the parent. */
  readonly background?: true;
}

/** The origin of an input that no user sent. */
export type InputOrigin =
  /** A schedule of this session was due at `due`, in milliseconds since the epoch. */
  | {
      readonly type: "schedule";
      readonly schedule: string;
      readonly due: number;
      /** The next date of a schedule with a rule. Absent: it has none. */
      readonly next?: number;
    }
  /** A parent's call, or a child that reports to its parent. */
  | { readonly type: "session"; readonly session: string; readonly runId?: string; readonly callKey?: string }
  /** A channel: a chat, a webhook, a mailbox. */
  | { readonly type: "channel"; readonly channel: string; readonly data?: JsonObject };
