import type { Access, Fact, FactBody, Labels, ParentLink } from "../loop/fact.ts";
import type { SessionRef } from "../ports/session-log.ts";
import type { SessionSnapshot } from "../protocol/snapshot.ts";

/** One attempt of an effect, as it starts. */
export type ObservedEffect =
  | {
      readonly type: "call-model";
      /** Equal in each process that runs this attempt. */
      readonly id: string;
      readonly runId: string;
      readonly turn: number;
      /** Counted from 1. */
      readonly attempt: number;
      readonly provider: string;
      readonly model: string;
    }
  | {
      readonly type: "run-tool";
      readonly id: string;
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      readonly callKey: string;
      readonly tool: string;
    }
  /** The tool's `lookup` of a call with an unknown outcome. */
  | { readonly type: "lookup-tool"; readonly id: string; readonly runId: string; readonly callKey: string; readonly tool: string };

/** A run that is open, or waits to begin. */
export interface ObservedRun {
  readonly runId: string;
  readonly agent?: string;
  /** The user whose input it answers. */
  readonly access?: Access;
  readonly labels?: Labels;
  /** The `traceparent` (W3C Trace Context) that its input was recorded with. */
  readonly trace?: string;
  /** The call that started the session, if it is a child. */
  readonly parent?: ParentLink;
}

/** The observation of one attempt. */
export interface EffectObservation {
  /** Calls `run` once and returns its result. The whole attempt happens within `run`, so a context that is set here reaches providers and tools. */
  around?<T>(run: () => T): T;
  /** The attempt has ended. `closing`: the fact that will be recorded; `undefined` if the attempt is left to the next owner. */
  end?(closing: FactBody | undefined): void;
}

/**
 * Is notified, for telemetry, metering and audit, and changes nothing. All methods are called synchronously and never awaited, so they must be
 * quick. Their errors and rejections go to the logger, and the session continues.
 */
export interface Observer {
  /**
   * Called when a batch is in the log. The batches of one session come in the order of `seq`, in each process that appends. A new owner repeats the facts since
   * the claim before its own, and a process that completes a removal the last fact, because they may not have been observed: deduplicate by `ref` and
   * `seq`. `snapshot`: the session right after these
   * facts, or later if they are repeated; it reads all messages, once per batch. `run`: what is known of a run at that moment;
   * `undefined` if it has ended.
   */
  facts?(ref: SessionRef, facts: readonly Fact[], snapshot: () => SessionSnapshot, run: (runId: string) => ObservedRun | undefined): void;
  /** An attempt starts, after its intent is in the log. `run`: the run that it belongs to. */
  effect?(ref: SessionRef, effect: ObservedEffect, run: ObservedRun): EffectObservation | undefined;
  /**
   * The `traceparent` of the work that runs now, recorded with an input that comes without one, for example that of a child: a tool starts it within
   * `around`. Called once for each input; of several observers the first result counts.
   */
  trace?(): string | undefined;
  /** A hook, a tool, a provider, another observer or the runtime itself threw an error that it must not throw. `where`: a sentence. */
  bug?(ref: SessionRef, where: string, error: unknown): void;
  /** A host has removed the session and its log. */
  removed?(ref: SessionRef): void;
}
