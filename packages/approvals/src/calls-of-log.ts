/*
 * Owns: the calls of a recorded session as the gates met them: arguments, what asked for approval, decisions that held for them, what became of them.
 * Does not own: what a policy makes of them (backtest-approvals).
 */
import type { Access, Fact, FactOf, Labels, RememberedDecision, ToolCallPart, Verdict } from "@loopwright/core";
import { canonicalText } from "./canonical-text.ts";

/** What becomes of a call at the gates. */
export type GateOutcome = "allow" | "ask" | "deny";

/** A call that the gates of its time have judged. */
export interface RecordedCall {
  readonly call: ToolCallPart;
  /** All calls of its turn. */
  readonly calls: readonly ToolCallPart[];
  readonly runId: string;
  readonly turn: number;
  /** When it was judged, in milliseconds since the epoch. */
  readonly at: number;
  readonly access: Access;
  readonly labels: Labels;
  readonly agent: string;
  /** Its tool or another gate asked for approval. */
  readonly isAsked: boolean;
  /** Another gate denied it, before the policy was asked. */
  readonly isDenied: boolean;
  /** Decisions of the session that held then. */
  readonly remembered: readonly RememberedDecision[];
  readonly outcome: GateOutcome;
  /** The decision of a person, if there was one. */
  readonly decision?: Pick<FactOf<"approval.decided">, "decision" | "by">;
}

type Judged = FactOf<"approval.requested"> | FactOf<"tool.started"> | FactOf<"tool.finished"> | FactOf<"client.requested">;

interface Placed {
  readonly call: ToolCallPart;
  readonly calls: readonly ToolCallPart[];
  readonly turn: number;
}

const local: Access = { user: "local", scope: "local" };

/** The calls of the log, in the order in which they were judged. `hook`: the name of the hooks whose policy is tried; what they did is left out. */
export function callsOfLog(facts: readonly Fact[], hook: string): readonly RecordedCall[] {
  const reader = new LogReader(hook);
  for (const fact of facts) reader.read(fact);
  return reader.calls();
}

class LogReader {
  readonly #hook: string;
  readonly #runs = new Map<string, Pick<RecordedCall, "access" | "labels" | "agent">>();
  readonly #inputs = new Map<string, FactOf<"input.accepted">>();
  readonly #gatesClient = new Set<string>();
  readonly #placed = new Map<string, Placed>();
  readonly #judged = new Map<string, RecordedCall>();
  #remembered: readonly RememberedDecision[] = [];

  constructor(hook: string) {
    this.#hook = hook;
  }

  calls(): readonly RecordedCall[] {
    return [...this.#judged.values()];
  }

  read(fact: Fact): void {
    switch (fact.type) {
      case "input.accepted":
        // Inputs that share a run are of the last caller.
        this.#inputs.set(fact.runId, fact);
        return;
      case "run.started": {
        const { access = local, labels = {} } = this.#inputs.get(fact.runId) ?? {};
        this.#runs.set(fact.runId, { access, labels, agent: fact.agent });
        if (fact.gatesClient) this.#gatesClient.add(fact.runId);
        return;
      }
      case "model.finished":
        this.#place(fact);
        return;
      case "approval.requested":
        this.#judge(fact, fact.callKey, "ask");
        return;
      case "tool.started":
        this.#judge(fact, fact.callKey, "allow");
        return;
      case "client.requested":
        if (this.#gatesClient.has(fact.runId)) for (const callKey of fact.callKeys) this.#judge(fact, callKey, "allow");
        return;
      case "tool.finished":
        // A limit denies calls too, before any gate.
        if (isDeniedByGate(fact)) this.#judge(fact, fact.callKey, "deny");
        return;
      case "approval.decided":
        this.#decide(fact);
        return;
      case "session.changed":
        this.#remembered = this.#remembered.filter(({ callKey }) => !fact.forget?.includes(callKey));
        return;
      default:
        return;
    }
  }

  #place({ message, turn }: FactOf<"model.finished">): void {
    const calls = message.content.filter((part): part is ToolCallPart => part.type === "tool_call");
    for (const call of calls) this.#placed.set(call.callKey, { call, calls, turn });
  }

  /** The first fact about a call after its gates has their verdicts. */
  #judge(fact: Judged, callKey: string, outcome: GateOutcome): void {
    const placed = this.#placed.get(callKey);
    const run = this.#runs.get(fact.runId);
    if (!placed || !run || this.#judged.has(callKey)) return;
    const args = fact.type === "client.requested" ? fact.args?.[callKey] : "args" in fact ? fact.args : undefined;
    const others = (fact.verdicts ?? []).filter(
      (verdict) => verdict.point === "gate" && verdict.hook !== this.#hook && (verdict.callKey ?? callKey) === callKey,
    );
    this.#judged.set(callKey, {
      ...run,
      call: args ? { ...placed.call, args } : placed.call,
      calls: placed.calls,
      runId: fact.runId,
      turn: placed.turn,
      at: fact.at,
      isAsked: isAskedBy(others),
      isDenied: others.some(({ action }) => action === "deny"),
      remembered: this.#remembered,
      outcome,
    });
  }

  #decide(fact: FactOf<"approval.decided">): void {
    const { callKey, decision, by, at, remember, child } = fact;
    const judged = this.#judged.get(callKey);
    if (judged && !child && !judged.decision)
      this.#judged.set(callKey, { ...judged, decision: { decision, ...(by === undefined ? {} : { by }) } });
    if (remember)
      this.#remembered = [...this.#others(remember, callKey), { ...remember, callKey, decision, at, ...(by === undefined ? {} : { by }) }];
  }

  #others(remember: Pick<RememberedDecision, "toolName" | "pattern">, callKey: string): readonly RememberedDecision[] {
    const about = canonicalText([remember.toolName, remember.pattern]);
    return this.#remembered.filter((one) => one.callKey !== callKey && canonicalText([one.toolName, one.pattern]) !== about);
  }
}

const isDeniedByGate = ({ outcome, verdicts = [] }: FactOf<"tool.finished">): boolean =>
  outcome === "denied" && verdicts.some(({ point, action }) => point === "gate" && action === "deny");

/** An approval of a later gate takes back what earlier ones asked. */
function isAskedBy(verdicts: readonly Verdict[]): boolean {
  let isAsked = false;
  for (const { action } of verdicts) if (action === "ask" || action === "approve") isAsked = action === "ask";
  return isAsked;
}
