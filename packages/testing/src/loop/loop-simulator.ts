/*
 * Owns: a seeded session without a driver: every effect answered in any order, commands at any time, owners that die, facts that come
 * twice or are forged. Everything is decided by the seed, so that a failure is one number.
 */
import { type Fact, type FactBody, factVersion } from "@loopwright/core";
import { type Call, type Effect, emptyState, fold, isAtRest, plan, type State } from "@loopwright/core/internals";
import { seededRandom } from "@loopwright/core/memory";
import { approvalFacts, forgedFacts, modelEnd } from "./loop-answers.ts";
import { type LoopScenario, loopScenario } from "./loop-scenario.ts";

export interface SimulationOptions {
  /** Random actions before the world calms down. Default 60. */
  readonly steps?: number;
  /** Commands, crashes and forged facts. Default true; without them only the order is random. */
  readonly disturbed?: boolean;
  /** Decides the order; default: the scenario's seed. */
  readonly orderSeed?: number;
}

export interface Simulation {
  readonly facts: readonly Fact[];
  /** `states[i]` is the state after `i` facts. */
  readonly states: readonly State[];
  /** Ids of all effects launched, in order. */
  readonly launched: readonly string[];
  /** The state when each model call went out. */
  readonly asked: readonly State[];
  /** The model calls, at the same places. */
  readonly calls: readonly ModelCallEffect[];
  /** True when the world was calm and the session rested at the end. */
  readonly isResting: boolean;
}

export type ModelCallEffect = Extract<Effect, { readonly type: "call-model" }>;

/** Most decisions in a row that may follow from a state without anything happening: beyond it the loop spins. */
const settleMax = 200;
const drainMax = 3_000;

export function simulateLoop(seed: number, options: SimulationOptions = {}): Simulation {
  const world = new SimulatedSession(loopScenario(seed), seededRandom((options.orderSeed ?? seed) ^ 0x5eed));
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
    else if (chance < 0.95) this.forge();
    else this.repeat();
    this.settle();
  }

  /** What is owed is done, and whoever is waited for answers. */
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
    const mode = chance < 0.5 || this.inputCount === 0 ? "enqueue" : chance < 0.8 ? "steer" : "interrupt";
    const id = `input${++this.inputCount}`;
    if (mode === "interrupt" && run) this.add({ type: "abort.requested", runId: run.runId, reason: "interrupted" });
    const parent = mode === "enqueue" && this.random() < 0.2 ? this.anyMessage() : undefined;
    const message = { role: "user", content: this.scenario.inputAt(id) } as const;
    this.add({
      type: "input.accepted",
      inputId: id,
      runId: mode === "steer" && run ? run.runId : `run${this.inputCount}`,
      mode,
      message,
      ...(parent === undefined ? {} : { parent }),
    });
    this.settle();
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
    if (effect.type === "open-run") this.runs.push(effect.input.runId);
    if (effect.type === "call-model" || effect.type === "run-tool" || effect.type === "lookup-tool") this.running.set(effect.id, effect);
    const intent = intentOf(effect, this.scenario, this.now);
    if (intent) this.add(intent);
    if (effect.type !== "call-model") return;
    this.asked.push(this.state);
    this.calls.push(effect);
  }

  /** The gate asks about some calls, before their first attempt; once somebody has allowed one it is asked no more. */
  private approvalFor(effect: Effect): ReturnType<typeof approvalFacts> | undefined {
    if (effect.type !== "run-tool" || effect.attempt > 1 || effect.call.approval) return undefined;
    return this.approvalOf(effect.call, effect.runId);
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
      const more = { ...this.scenario.spentOn(callKey), ...this.scenario.summaryOf(callKey) };
      this.add({ type: "tool.finished", runId: effect.runId, callKey, outcome, output: this.scenario.outputOf(callKey), ...more });
    }
  }

  private finishModel({ runId, turn, attempt }: ModelCallEffect): void {
    const answer = this.scenario.modelAt(this.runs.indexOf(runId), turn, attempt);
    const tools = this.scenario.shownAt(`${runId}.${turn}#${attempt}`) ?? this.scenario.tools;
    const end = modelEnd({ runId, turn, attempt }, answer, { tools, isAborted: this.state.run?.abort !== undefined });
    this.add({ ...end, ...this.scenario.spentOn(`${runId}.${turn}.${attempt}`) });
  }

  /** A client answers, or a person decides or lets the deadline pass. */
  private answerCall(): void {
    const asked = (this.state.run?.calls ?? []).filter((call) => call.stage === "requested" || call.stage === "asked");
    const call = asked[Math.floor(this.random() * asked.length)];
    if (!call || !this.state.run) return;
    const approval = call.stage === "asked" ? this.approvalOf(call, this.state.run.runId) : undefined;
    if (approval) return void this.add(approval.end);
    this.add({
      type: "client.answered",
      runId: this.state.run.runId,
      callKey: call.part.callKey,
      outcome: "ok",
      output: this.scenario.outputOf(call.part.callKey),
    });
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

/** What is recorded before an effect begins; a look-up has no intent. */
function intentOf(effect: Effect, scenario: LoopScenario, now: number): FactBody | undefined {
  const { tools, limits } = scenario;
  switch (effect.type) {
    case "open-run":
      return { type: "run.started", runId: effect.input.runId, agent: "a", agentDigest: "", provider: "p", model: "m", tools, limits };
    case "schedule-retry": {
      const { runId, turn, attempt, failure } = effect;
      return { type: "wait.scheduled", runId, turn, attempt, until: now + 5, reason: failure.code };
    }
    case "call-model": {
      const { runId, turn, attempt, notices } = effect;
      const shown = scenario.shownAt(`${runId}.${turn}#${attempt}`);
      return {
        type: "model.started",
        runId,
        turn,
        attempt,
        provider: "p",
        model: "m",
        requestDigest: "",
        ...(shown ? { tools: shown } : {}),
        ...(notices.length > 0 ? { notices } : {}),
      };
    }
    case "run-tool": {
      const { callKey, name } = effect.call.part;
      const replay = tools[name]?.replay ?? "once";
      return {
        type: "tool.started",
        runId: effect.runId,
        callKey,
        attempt: effect.attempt,
        argsDigest: "",
        replay,
        idempotencyKey: callKey,
      };
    }
    case "lookup-tool":
      return undefined;
    default:
      return effect satisfies never;
  }
}
