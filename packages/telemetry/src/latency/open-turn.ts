import { callsOf, type Fact, type SessionRef } from "@loopwright/core";
import type { LatencyRecord, ToolTiming } from "./latency-record.ts";

type FactOf<T extends Fact["type"]> = Extract<Fact, { readonly type: T }>;

/** A turn whose answer or tools are under way. */
export class OpenTurn {
  readonly runId: string;
  readonly turn: number;
  readonly #startedAt: number;
  readonly #names = new Map<string, string>();
  /** When a call began, and where. */
  readonly #begun = new Map<string, { readonly at: number; readonly side: ToolTiming["side"] }>();
  readonly #timings: ToolTiming[] = [];
  #last: FactOf<"model.started">;
  #answer: FactOf<"model.finished"> | undefined;
  #endedAt: number;

  constructor(started: FactOf<"model.started">) {
    this.runId = started.runId;
    this.turn = started.turn;
    this.#startedAt = started.at;
    this.#endedAt = started.at;
    this.#last = started;
  }

  /** True when the answer is there, and every call of it has its result. */
  get isOver(): boolean {
    return this.#answer !== undefined && this.#names.size === 0;
  }

  take(fact: Fact): void {
    if (fact.type === "model.started") this.#last = fact;
    else if (fact.type === "model.finished") this.#answered(fact);
    else if (fact.type === "tool.started") this.#begin([fact.callKey], fact.at, "server");
    else if (fact.type === "child.linked" && fact.callKey !== undefined) this.#begin([fact.callKey], fact.at, "server");
    else if (fact.type === "client.requested") this.#begin(fact.callKeys, fact.at, "client");
    else if (fact.type === "tool.finished" || fact.type === "client.answered") this.#end(fact);
    else if (fact.type === "child.finished" && fact.callKey !== undefined) this.#end({ ...fact, callKey: fact.callKey });
  }

  /** `undefined` while there is no answer. */
  record({ scope, session }: SessionRef, firstByteMs: number | undefined): LatencyRecord | undefined {
    const answer = this.#answer;
    if (!answer) return undefined;
    const { totalMs, firstTokenMs } = answer.timings;
    const { provider, model, keyOwner = "platform" } = this.#last;
    const waitedMs = Math.max(0, this.#last.at - this.#startedAt);
    return {
      scope,
      taskId: this.runId,
      conversationId: session,
      turnNumber: this.turn,
      providerName: provider,
      providerModel: model,
      ...(keyOwner === "platform" ? {} : { keyOwner }),
      at: this.#endedAt,
      ...(firstByteMs === undefined ? {} : { firstByteMs: waitedMs + firstByteMs }),
      ...(firstTokenMs === undefined ? {} : { ttftMs: waitedMs + firstTokenMs }),
      turnDurationMs: waitedMs + totalMs,
      attempts: answer.attempt,
      toolCalls: this.#timings,
      stopReason: answer.stopReason,
      ...(answer.usage ? { usage: answer.usage } : {}),
    };
  }

  #answered(fact: FactOf<"model.finished">): void {
    this.#answer = fact;
    this.#endedAt = fact.at;
    const names = new Map(callsOf(fact.message).map(({ callKey, name }) => [callKey, name]));
    for (const { callKey } of fact.calls) this.#names.set(callKey, names.get(callKey) ?? "unknown");
  }

  #begin(callKeys: readonly string[], at: number, side: ToolTiming["side"]): void {
    for (const callKey of callKeys) if (!this.#begun.has(callKey)) this.#begun.set(callKey, { at, side });
  }

  #end(fact: Pick<FactOf<"tool.finished">, "callKey" | "at" | "outcome" | "durationMs">): void {
    const name = this.#names.get(fact.callKey);
    if (name === undefined) return;
    this.#names.delete(fact.callKey);
    this.#endedAt = fact.at;
    const begun = this.#begun.get(fact.callKey);
    // A call that was denied, or that no tool was found for, took no time.
    if (!begun) return;
    const durationMs = fact.durationMs ?? Math.max(0, fact.at - begun.at);
    this.#timings.push({ name, side: begun.side, durationMs, outcome: fact.outcome });
  }
}
