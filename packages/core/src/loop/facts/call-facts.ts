import type { Failure } from "../../errors.ts";
import type { ResultPart } from "../../message/content.ts";
import type { Json, JsonObject } from "../../message/json.ts";
import type { CallOutcome, ProgressStep, UserMessage } from "../../message/message.ts";
import type { RunBudget } from "./run-options.ts";
import type { Hooked, Spending } from "./spending.ts";
import type { ReplayClass } from "./tool-policy.ts";

/** A person's decision on a call for which a gate requested approval. */
export type ApprovalVerdict = "allow" | "deny";

/** A result in the form of a fact. */
export interface CallResult {
  readonly outcome: CallOutcome;
  /** The output for the model. */
  readonly output: readonly ResultPart[];
  readonly failure?: Failure;
  /** Data for the application, which the model never sees. */
  readonly details?: Json;
  /** The text that later runs read in place of `output`, if the tool gave one. */
  readonly summary?: string;
}

/** A call of a child, or of a session below it, that waits for a person (with `argsDigest`) or for a client. */
export interface WaitingCall {
  /** The session of the call, and its agent. */
  readonly session: string;
  readonly agent: string;
  readonly toolCallId: string;
  readonly callKey: string;
  readonly toolName: string;
  readonly args: JsonObject;
  readonly argsDigest?: string;
  readonly reason?: string;
  /** Milliseconds since the epoch. */
  readonly deadline?: number;
}

/** A decision that also holds for later calls of the session. Only the hooks that read it interpret `pattern`. */
export interface RememberedDecision {
  /** The call that was decided on; names the entry. */
  readonly callKey: string;
  readonly toolName: string;
  readonly decision: ApprovalVerdict;
  readonly pattern: JsonObject;
  readonly by?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A child of this session, and the call that started it. */
export interface ChildCall {
  readonly session: string;
  /** Absent: a hook started it. */
  readonly callKey?: string;
}

/** Facts of tool calls. */
export type CallFact =
  | ({
      readonly type: "tool.started";
      readonly runId: string;
      readonly callKey: string;
      readonly attempt: number;
      readonly argsDigest: string;
      readonly replay: ReplayClass;
      readonly idempotencyKey: string;
      readonly label?: string;
      /** The arguments as a hook edited them. */
      readonly args?: JsonObject;
    } & Hooked &
      Pick<Spending, "expenses">)
  | ({
      readonly type: "tool.finished";
      readonly runId: string;
      readonly callKey: string;
      readonly progress?: readonly ProgressStep[];
      readonly durationMs?: number;
      /** The tool that the next model call must use, chosen by a `review` hook. */
      readonly force?: string;
    } & CallResult &
      Hooked &
      Spending)
  | ({
      readonly type: "client.requested";
      readonly runId: string;
      readonly callKeys: readonly string[];
      /** The earliest deadline of the calls, in milliseconds since the epoch; each call has its own by its policy. Absent: there is none. */
      readonly deadline?: number;
      /** The arguments as hooks edited them, by call key. */
      readonly args?: { readonly [callKey: string]: JsonObject };
    } & Hooked &
      Pick<Spending, "expenses">)
  | ({
      readonly type: "client.answered";
      readonly runId: string;
      readonly callKey: string;
      readonly idempotencyKey?: string;
      readonly by?: string;
      /** The call belongs to this child or to one below it, which gets the answer. */
      readonly child?: ChildCall;
    } & CallResult &
      Hooked)
  | ({
      readonly type: "approval.requested";
      readonly runId: string;
      readonly callKey: string;
      /** SHA-256 of the canonical text of the arguments that need approval, hexadecimal. */
      readonly argsDigest: string;
      /** Milliseconds since the epoch after which decisions are refused. Absent: the call waits without a limit. */
      readonly deadline?: number;
      /** The reason why approval is needed. */
      readonly reason?: string;
      /** The arguments as hooks edited them before the request. */
      readonly args?: JsonObject;
    } & Hooked &
      Pick<Spending, "expenses">)
  | {
      readonly type: "approval.decided";
      readonly runId: string;
      readonly callKey: string;
      readonly decision: ApprovalVerdict;
      readonly idempotencyKey?: string;
      /** The digest of the arguments that the person has seen, if the decision named it. */
      readonly argsDigest?: string;
      readonly by?: string;
      /** The arguments as the person edited them. */
      readonly args?: JsonObject;
      readonly note?: string;
      /** The decision also holds for later calls of the session that match. */
      readonly remember?: Pick<RememberedDecision, "toolName" | "pattern">;
      /** The call belongs to this child or to one below it, which gets the decision. */
      readonly child?: ChildCall;
    }
  | {
      readonly type: "child.linked";
      readonly runId: string;
      /** Absent: a hook started the child, which then has a `key`. */
      readonly callKey?: string;
      readonly session: string;
      readonly agent: string;
      /**
       * The key under which user code started the child, and finds it again after a crash. The call continues beside the child and has its own
       * `tool.finished`. Absent: the call waits for the child, and `child.finished` ends it.
       */
      readonly key?: string;
      /** The share of the run's budget that the child may spend. */
      readonly budget?: RunBudget;
      /** The child outlives call and run, and its end becomes an input of the session. `input`: its first input. */
      readonly background?: { readonly input: UserMessage };
    }
  | {
      /**
       * The list of calls that wait for people and clients, in a child and in its children, has changed. Answers go to the session at the top. For a child in
       * the background: it has its input.
       */
      readonly type: "child.waiting";
      readonly runId: string;
      readonly callKey?: string;
      readonly session: string;
      readonly waits: readonly WaitingCall[];
      /** The child rests until one of these calls is answered. Its own call needs no process until then; then its tool runs again. */
      readonly rests?: true;
    }
  | ({
      /**
       * A child has ended. If a call waits for the child, this is the result of the call. Any node may append it. For a child in the background, `runId` is
       * the run that reads the report.
       */
      readonly type: "child.finished";
      readonly runId: string;
      readonly callKey?: string;
      readonly session: string;
      readonly by?: string;
      /** The tool calls of the child and of its children that count against the limit of the parent's run. */
      readonly toolCallCount?: number;
    } & CallResult &
      Spending);
