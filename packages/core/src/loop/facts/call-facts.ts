import type { Failure } from "../../errors.ts";
import type { ResultPart } from "../../message/content.ts";
import type { Json, JsonObject } from "../../message/json.ts";
import type { CallOutcome } from "../../message/message.ts";
import type { ReplayClass } from "../policy.ts";
import type { Hooked, RunBudget, Spending } from "./spending.ts";

/** A person's decision on a call for which a gate requested approval. */
export type ApprovalVerdict = "allow" | "deny";

/** A result as a fact holds it. */
export interface CallResult {
  readonly outcome: CallOutcome;
  /** What the model sees. */
  readonly output: readonly ResultPart[];
  readonly failure?: Failure;
  /** What only the application sees. */
  readonly details?: Json;
  /** What later runs see instead of `output`, where the tool gave one. */
  readonly summary?: string;
}

export interface ProgressStep {
  readonly id: string;
  readonly title: string;
  readonly icon?: string;
  readonly state: "open" | "done" | "failed";
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
      /** Arguments as a hook edited them. */
      readonly args?: JsonObject;
    } & Hooked &
      Pick<Spending, "expenses">)
  | ({
      readonly type: "tool.finished";
      readonly runId: string;
      readonly callKey: string;
      readonly progress?: readonly ProgressStep[];
      readonly durationMs?: number;
      /** The tool that the next model call must use, as a `review` hook wants it. */
      readonly force?: string;
    } & CallResult &
      Hooked &
      Spending)
  | ({
      readonly type: "client.requested";
      readonly runId: string;
      readonly callKeys: readonly string[];
      /** The earliest of theirs, milliseconds since the epoch; each has its own by its policy. Absent: all wait for ever. */
      readonly deadline?: number;
      /** Arguments as hooks edited them, by call key. */
      readonly args?: { readonly [callKey: string]: JsonObject };
    } & Hooked &
      Pick<Spending, "expenses">)
  | ({
      readonly type: "client.answered";
      readonly runId: string;
      readonly callKey: string;
      readonly idempotencyKey?: string;
      readonly by?: string;
    } & CallResult &
      Hooked)
  | ({
      readonly type: "approval.requested";
      readonly runId: string;
      readonly callKey: string;
      /** SHA-256, hexadecimal, of the canonical text of the arguments that are asked about. */
      readonly argsDigest: string;
      /** Milliseconds since the epoch after which decisions are refused. Absent: the call waits without a limit. */
      readonly deadline?: number;
      /** Why a gate asks. */
      readonly reason?: string;
      /** Arguments as hooks edited them before they asked. */
      readonly args?: JsonObject;
    } & Hooked &
      Pick<Spending, "expenses">)
  | {
      readonly type: "approval.decided";
      readonly runId: string;
      readonly callKey: string;
      readonly decision: ApprovalVerdict;
      readonly idempotencyKey?: string;
      /** Of the arguments that the decider has seen, where the decision named them. */
      readonly argsDigest?: string;
      readonly by?: string;
      /** Arguments as the decider edited them. */
      readonly args?: JsonObject;
      readonly note?: string;
    }
  | {
      readonly type: "child.linked";
      readonly runId: string;
      /** Absent: a hook began the child; it has a `key`. */
      readonly callKey?: string;
      readonly session: string;
      readonly agent: string;
      /**
       * Under which user code began the child and finds it again after a crash: its call continues beside the child and has a `tool.finished` of its own.
       * Absent: the call waits for the child, whose `child.finished` ends it.
       */
      readonly key?: string;
      /** The share of the run's budget that the child may spend. */
      readonly budget?: RunBudget;
    }
  | ({
      /** A child has ended. Where its call waits for it, this is the result of the call. Any node may append it. */
      readonly type: "child.finished";
      readonly runId: string;
      readonly callKey?: string;
      readonly session: string;
      readonly by?: string;
    } & CallResult &
      Spending);
