import type { Json, JsonObject, JsonSchema } from "../../message/json.ts";
import type { MessageId } from "../../message/message.ts";

/** Values by name, with names and meanings of the deployment. The runtime records them and passes them to prompts, hooks and tools. */
export interface Labels {
  readonly [name: string]: string;
}

/** The acting user, established by authentication. */
export interface Access {
  readonly user: string;
  readonly scope: string;
  readonly roles?: readonly string[];
  /** From authentication alone, never from a request. */
  readonly labels?: Labels;
}

/** What `execute` may choose for one input. */
export interface RunOptions {
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly reasoningEffort?: "minimal" | "low" | "medium" | "high";
  /** In place of the agent's prompt, for this run of this session alone: children keep their own. */
  readonly systemPrompt?: string;
}

/** A client tool that came with a session: it has no `execute`, so it is plain data. */
export interface DeclaredTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly label?: string;
  /** How long an answer may take. Default: for ever. */
  readonly timeoutMs?: number;
}

/** The budget of a run, and the accounts that are charged. */
export interface RunBudget {
  readonly accounts?: readonly string[];
  /** Prompt and answer tokens. Absent: no limit. */
  readonly tokensMax?: number;
  /** US dollars. Absent: no limit. */
  readonly costUsdMax?: number;
}

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
  /** What each run of the child may spend, where the child was given a share. */
  readonly budget?: RunBudget;
  /** The call does not wait for it: its end becomes an input of the parent. */
  readonly background?: true;
}

/** What a user may do in a shared session: read it, also take part in it, or do everything with it. */
export type SharingRole = "viewer" | "member" | "owner";

/** The users of its scope that a session is shared with. The runtime records it; a policy of access reads it. */
export interface Sharing {
  /** What every user of the scope may do. Absent: nothing. */
  readonly scope?: Exclude<SharingRole, "owner">;
  readonly users?: { readonly [user: string]: SharingRole };
}

/** How long a session is kept after its last fact. */
export interface Retention {
  /** In milliseconds. Absent: for ever. */
  readonly keepMs?: number;
}

/** The origin of an input that no user sent. */
export type InputOrigin =
  /** A schedule of this session was due at `due`, in milliseconds since the epoch. */
  | { readonly type: "schedule"; readonly schedule: string; readonly due: number }
  /** A parent's call, or a child that reports to its parent. */
  | { readonly type: "session"; readonly session: string; readonly runId?: string; readonly callKey?: string }
  /** A channel: a chat, a webhook, a mailbox. */
  | { readonly type: "channel"; readonly channel: string; readonly data?: JsonObject };

/** The point at which a hook is called. */
export type HookPoint = "accept" | "prepare" | "filter" | "decide" | "parse" | "gate" | "review" | "run";

/** A change by a hook. A verdict without a change is not recorded. */
export interface Verdict {
  /** Name of the set of hooks. */
  readonly hook: string;
  readonly point: HookPoint;
  /** The action: `deny`, `edit`, `replace`, ... */
  readonly action: string;
  readonly reason?: string;
  /** The call, if the fact concerns several calls. */
  readonly callKey?: string;
}

/** The small state that hooks keep for a run, by the name of the set of hooks. */
export interface HookState {
  readonly [hook: string]: Json;
}

/** The end of a branch, or its beginning; `null`: before the first message. */
export type BranchPoint = MessageId | null;
