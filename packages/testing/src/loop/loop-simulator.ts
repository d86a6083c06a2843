/*
 * Owns: a seeded session without a driver: every effect answered in any order, commands at any time, owners that die, facts that come
 * twice or are forged. Everything is decided by the seed, so that a failure is one number.
 */
import { type Fact, type FactBody, factVersion } from "@loopwright/core";
import {
  type Call,
  type Effect,
  emptyState,
  firingKey,
  fold,
  isAtRest,
  isAwaited,
  plan,
  type Schedule,
  type State,
} from "@loopwright/core/internals";
import { seededRandom } from "@loopwright/core/memory";
import { approvalFacts, forgedFacts, modelEnd } from "./loop-answers.ts";
import { intentOf } from "./loop-intents.ts";
import { type LoopScenario, loopScenario } from "./loop-scenario.ts";
import type { ModelCallEffect, Simulation, SimulationOptions } from "./simulation.ts";

/** Most decisions in a row that may follow from a state without anything happening: beyond it the loop spins. */
const settleMax = 200;
const drainMax = 3_000;

export function simulateLoop(seed: number, options: SimulationOptions = {}): Simulation {
  const world = new SimulatedSession(loopScenario(seed, options.isWide), seededRandom((options.orderSeed ?? seed) ^ 0x5eed));
  const disturbed = options.disturbed ?? true;
  world.command("input");
  for (let step = 0; step < (options.steps ?? 60); step++) world.act(disturbed);
  for (let step = 0; step < drainMax && !world.isDone; step++) world.calm();
  return {
    facts: world.facts,
    states: world.states,
    launched: world.launched,
    asked: world.asked,
    calls: world.calls,
    isResting: world.isDone,
  };
}

class SimulatedSession {
  readonly facts: Fact[] = [];
  readonly states: State[] = [emptyState];
  readonly launched: string[] = [];
  readonly asked: State[] = [];
  readonly calls: ModelCallEffect[] = [];
  private readonly scenario: LoopScenario;
  private readonly random: () => number;
  private readonly running = new Map<string, Effect>();
  private readonly runs: string[] = [];
  private state: State = emptyState;
  private now = 1_000_000;
  private epoch = 1;
  private inputCount = 0;

  constructor(scenario: LoopScenario, random: () => number) {
    this.scenario = scenario;
    this.random = random;
    this.add({ type: "owner.claimed", node: "n1", leaseMs: 1 });
    this.add({
      type: "session.opened",
      agent: "a",
      ...(seededRandom(scenario.seed)() < 0.2 ? { context: [{ role: "assistant", content: [], stopReason: "stop" }] } : {}),
    });
  }

  get isDone(): boolean {
    return this.running.size === 0 && this.state.run === undefined && isAtRest(this.state);
  }

  /** One random thing happens. */
  act(disturbed: boolean): void {
    const chance = this.random();
    if (!disturbed || chance < 0.62) this.finishOne();
    else if (chance < 0.72) this.command("input");
    else if (chance < 0.76) this.command("abort");
    else if (chance < 0.82) this.answerCall();
    else if (chance < 0.85) this.moveHead();
    else if (chance < 0.9) this.crash();
    else if (chance < 0.94) this.forge();
    else if (chance < 0.97) this.changeSession();
    else this.repeat();
    this.settle();
  }

  /** Does what is owed, and gives the answers that are waited for. */
  calm(): void {
    this.settle();
    if (this.running.size > 0) this.finishOne();
    else this.answerCall();
    this.settle();
  }

  command(kind: "input" | "abort"): void {
    const { run } = this.state;
    if (kind === "abort") {
      if (run) this.add({ type: "abort.requested", runId: run.runId, reason: "user" });
      this.settle();
      return;
    }
    const chance = this.random();
    const host = this.state.inputs.find(({ jumps }) => !jumps);
    const busy = chance < 0.8 ? "steer" : chance < 0.9 && host ? "merge" : "interrupt";
    const mode = chance < 0.5 || this.inputCount === 0 ? "enqueue" : busy;
    const id = `input${++this.inputCount}`;
    if (mode === "interrupt" && run) this.add({ type: "abort.requested", runId: run.runId, reason: "interrupted" });
    const parent = mode === "enqueue" && this.random() < 0.2 ? this.anyMessage() : undefined;
    const message = { role: "user", content: this.scenario.inputAt(id) } as const;
    this.add({
      type: "input.accepted",
      inputId: id,
      runId: (mode === "steer" ? run?.runId : mode === "merge" ? host?.runId : undefined) ?? `run${this.inputCount}`,
      mode,
      message,
      ...(parent === undefined ? {} : { parent }),
      ...this.scenario.hooksAt(id),
      ...(mode === "steer" || mode === "merge" ? {} : this.scenario.cannedOf(id)),
    });
    this.settle();
  }

  /** A schedule is set, cleared or fires; a hold, a note. */
  private changeSession(): void {
    const [schedule] = this.state.schedules ?? [];
    const chance = this.random();
    if (chance < 0.15) this.add({ type: "hold.changed", held: this.state.hold === undefined, reason: "law" });
    else if (chance < 0.3) this.add({ type: "note.recorded", kind: "test.note", data: { at: this.now } });
    else if (schedule && chance < 0.4) this.add({ type: "schedule.cleared", schedule: schedule.id });
    else if (schedule) this.fire(schedule);
    else {
      const everyMs = this.random() < 0.5 ? { everyMs: 30 } : {};
      const message = { role: "user", content: "say it again" } as const;
      this.add({ type: "schedule.set", schedule: "s", due: this.now + 20, ...everyMs, input: { message } });
    }
  }

  private fire({ id, due, input: { message, mode = "enqueue" } }: Schedule): void {
    const inputId = `input${++this.inputCount}`;
    const origin = { type: "schedule", schedule: id, due } as const;
    const key = { idempotencyKey: firingKey({ id, due }), origin };
    this.add({ type: "input.accepted", inputId, runId: `run${this.inputCount}`, mode, message, ...key });
  }

  private add(body: FactBody): void {
    this.now += 10;
    const fact: Fact = { ...body, seq: this.state.seq + 1, at: this.now, v: factVersion, epoch: this.epoch };
    this.state = fold(this.state, fact);
    this.facts.push(fact);
    this.states.push(this.state);
  }

  /** What follows is recorded, what is owed is launched. */
  private settle(): void {
    for (let round = 0; round < settleMax; round++) {
      const { facts, effects } = plan(this.state);
      for (const body of facts) this.add(body);
      const fresh = effects.filter(({ id }) => !this.running.has(id));
      if (facts.length === 0 && fresh.length === 0) return;
      for (const effect of fresh) this.launch(effect);
    }
    throw new Error(`seed ${this.scenario.seed}: the loop spins`);
  }

  private launch(effect: Effect): void {
    const approval = this.approvalFor(effect);
    if (approval) return void this.add(approval.request);
    this.launched.push(effect.id);
    if (effect.type === "gate-calls") {
      this.gate(effect);
      return;
    }
    if (effect.type === "stop-child") {
      const { session, callKey } = effect.child;
      const place = { runId: effect.runId, ...(callKey === undefined ? {} : { callKey }) };
      this.add({ type: "child.finished", ...place, session, outcome: "aborted", output: [], ...this.scenario.spentOn(session) });
      return;
    }
    if (effect.type === "open-run") this.runs.push(effect.input.runId);
    if (effect.type === "call-model" || effect.type === "run-tool" || effect.type === "lookup-tool") this.running.set(effect.id, effect);
    if (effect.type === "run-tool" && this.beginChild(effect)) return;
    for (const intent of this.intentsOf(effect)) this.add(intent);
    if (effect.type !== "call-model") return;
    this.asked.push(this.state);
    this.calls.push(effect);
  }

  /** A model call may be preceded by a compaction. */
  private intentsOf(effect: Effect): readonly FactBody[] {
    const compaction = effect.type === "call-model" ? this.scenario.compactionOf(this.state, effect) : undefined;
    return [compaction, intentOf(effect, this.scenario, this.now)].flatMap((fact) => fact ?? []);
  }

  /** True where the call waits for a child from now on. A call that is tried again after a crash finds its child by its key. */
  private beginChild({ id, runId, call: { part, attempt } }: Extract<Effect, { readonly type: "run-tool" }>): boolean {
    const { callKey } = part;
    const kind = this.scenario.childOf(callKey);
    const child = { type: "child.linked", runId, callKey, session: `child-of-${callKey}`, agent: "c" } as const;
    const effect = this.running.get(id);
    if (kind === undefined || !effect) return false;
    if (kind !== "at-once" || attempt > 0) for (const intent of this.intentsOf(effect)) this.add(intent);
    if (kind === "beside") {
      this.add({ ...child, key: "k" });
      const question = this.scenario.questionBelow(this.state, child);
      if (question) {
        this.add(question);
        this.running.delete(id);
      } else if (this.random() < 0.5) this.endChild(runId, child.session);
      return true;
    }
    this.add(child);
    this.running.delete(id);
    return true;
  }

  private endChild(runId: string, session: string): void {
    const { outcomeOf, outputOf, spentOn, summaryOf } = this.scenario;
    const result = { outcome: outcomeOf(session), output: outputOf(session), ...summaryOf(session) };
    this.add({ type: "child.finished", runId, session, ...result, ...spentOn(session) });
  }

  /** The gate asks about some calls, before their first attempt; once a call was allowed it is not asked again. */
  private approvalFor(effect: Effect): ReturnType<typeof approvalFacts> | undefined {
    if (effect.type !== "run-tool" || effect.attempt > 1 || effect.call.approval) return undefined;
    return this.approvalOf(effect.call, effect.runId);
  }

  /** The gates ask a person about some calls of client tools; the clients of the rest are asked. */
  private gate({ runId, calls }: Extract<Effect, { type: "gate-calls" }>): void {
    const approvals = calls.map((call) => this.approvalOf(call, runId));
    for (const approval of approvals) if (approval) this.add(approval.request);
    const callKeys = calls.filter((_, at) => !approvals[at]).map(({ part }) => part.callKey);
    if (callKeys.length > 0) this.add({ type: "client.requested", runId, callKeys });
  }

  private approvalOf({ part: { callKey } }: Call, runId: string): ReturnType<typeof approvalFacts> | undefined {
    const approval = this.scenario.approvalOf(callKey);
    return approval && approvalFacts({ runId, callKey }, approval, this.now);
  }

  private finishOne(): void {
    const all = [...this.running.values()];
    const effect = all[Math.floor(this.random() * all.length)];
    if (!effect) return;
    this.running.delete(effect.id);
    if (effect.type === "call-model") this.finishModel(effect);
    else if (effect.type === "run-tool" || effect.type === "lookup-tool") {
      const { callKey } = effect.call.part;
      const outcome = this.state.run?.abort ? "aborted" : this.scenario.outcomeOf(callKey);
      const more = { ...this.scenario.spentOn(callKey), ...this.scenario.summaryOf(callKey), ...this.scenario.hooksAt(callKey) };
      this.add({ type: "tool.finished", runId: effect.runId, callKey, outcome, output: this.scenario.outputOf(callKey), ...more });
    }
  }

  private finishModel({ runId, turn, attempt }: ModelCallEffect): void {
    const answer = this.scenario.modelAt(this.runs.indexOf(runId), turn, attempt);
    const tools = this.scenario.shownAt(`${runId}.${turn}#${attempt}`) ?? this.scenario.tools;
    const end = modelEnd({ runId, turn, attempt }, answer, { tools, isAborted: this.state.run?.abort !== undefined });
    const place = `${runId}.${turn}.${attempt}`;
    this.add({ ...end, ...this.scenario.spentOn(place), ...this.scenario.hooksAt(place) });
  }

  /** A client answers, a child ends, or a person decides or lets the deadline pass. */
  private answerCall(): void {
    const asked = (this.state.run?.calls ?? []).filter(isAwaited);
    const call = asked[Math.floor(this.random() * asked.length)];
    if (!call || !this.state.run) return;
    if (call.child && call.state === "awaiting_child") {
      const answer = this.scenario.answerBelow(this.state, call.child.session);
      if (answer) this.add(answer);
      else this.endChild(this.state.run.runId, call.child.session);
      return;
    }
    const approval = call.state === "awaiting_approval" ? this.approvalOf(call, this.state.run.runId) : undefined;
    if (approval) {
      this.decide(approval.end);
      return;
    }
    this.add({
      type: "client.answered",
      runId: this.state.run.runId,
      callKey: call.part.callKey,
      outcome: "ok",
      output: this.scenario.outputOf(call.part.callKey),
    });
  }

  /** A person decides, sometimes once more and the other way: the first decision counts. */
  private decide(end: FactBody): void {
    this.add(end);
    if (end.type !== "approval.decided" || this.random() < 0.5) return;
    this.add({ ...end, decision: end.decision === "allow" ? "deny" : "allow" });
  }

  private moveHead(): void {
    const to = this.anyMessage();
    if (to !== undefined) this.add({ type: "head.moved", to });
  }

  /** A message that an input may continue: never one whose calls have no results. */
  private anyMessage(): string | undefined {
    const ids = this.facts.filter(
      (fact) =>
        fact.type === "input.accepted" &&
        this.states
          .at(-1)
          ?.history.chunks.flat()
          .some((entry) => entry.id === String(fact.seq)),
    );
    return ids.length === 0 ? undefined : String(ids[Math.floor(this.random() * ids.length)]?.seq);
  }

  /** The owner dies; the next one claims. */
  private crash(): void {
    this.running.clear();
    this.epoch += 1;
    this.add({ type: "owner.claimed", node: `n${this.epoch}`, leaseMs: 1 });
  }

  private repeat(): void {
    const fact = this.facts[Math.floor(this.random() * this.facts.length)];
    if (!fact || fact.type === "owner.claimed" || fact.type === "head.moved" || fact.type === "session.changed") return;
    const { seq: _, at: __, ...body } = fact;
    this.add(body as FactBody);
  }

  private forge(): void {
    const runId = this.state.run?.runId ?? "nobody";
    const forged = forgedFacts(runId, this.scenario.limits);
    this.add(forged[Math.floor(this.random() * forged.length)] as FactBody);
  }
}
