/** A flaw that is written into a copy of the sources. */
export interface SourceFlaw {
  readonly name: string;
  /** The package. Default `core`. */
  readonly in?: "core" | "host";
  /** In its sweeps, evictions or hand-overs: seeds are tried first, then hand-overs at every place of `script`. */
  readonly isOfHost?: boolean;
  /** Of agents that use agents: seeds of trees are tried, and nothing else. */
  readonly isOfTree?: boolean;
  /** Below `src` of the package. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly good: string;
  readonly bad: string;
  /** The conversation that shows it, crashed at every place: seeds would have to chance upon it. */
  readonly script?: string;
}

const driver = "driver/session/session-driver.ts";
const decider = "driver/session/claim-fold-append-start.ts";

/** All flaws that no port can have. Core has no hooks for any of them: what is run is a copy in which one place was changed. */
export const sourceFlaws: readonly SourceFlaw[] = [
  {
    name: "events are published before the log has their facts",
    file: decider,
    good: "if (isForLog(decision, this.#state)) {",
    bad: "if (isForLog(decision, this.#state)) (session as never as Driver).hub.publish(decision.pending.events);\n    if (isForLog(decision, this.#state)) {",
  },
  {
    name: "effects are launched before their intent is in the log",
    file: decider,
    good: "if (isForLog(decision, this.#state)) {",
    bad: "for (const launch of (decision.launches as unknown[]).splice(0) as Launch[]) launch({ state: decision.pending.state, isStopped: false });\n    if (isForLog(decision, this.#state)) {",
  },
  {
    name: "a lease is released before the last batch is written",
    file: decider,
    good: "if (isForLog(decision, this.#state)) {",
    bad: "if (decision.rests) await this.#deps.store.log.release(this.#deps.ref, decision.lease?.epoch ?? 0);\n    if (isForLog(decision, this.#state)) {",
  },
  {
    name: "every event is published twice",
    file: driver,
    good: "this.hub.publish(events);",
    bad: "this.hub.publish(events);\n    this.hub.publish(events);",
  },
  {
    name: "what was offered is forgotten when others were faster",
    file: "driver/session/inbox.ts",
    good: "this.#waiting = [...offers.filter((offer) => !offer.isOver && mayTryAgain(offer)), ...this.#waiting];",
    bad: "void mayTryAgain;",
  },
  {
    name: "a call of class once is run again when it is in doubt",
    file: "loop/retry/may-run-tool-again.ts",
    good: ' || policy.replay === "once"',
    bad: "",
  },
  {
    name: "the fold of one run refuses the input of a schedule",
    file: "loop/fold-one-run.ts",
    good: 'return origin?.type === "schedule" ? rest : fact;',
    bad: "return fact;",
  },
  { name: "a call in doubt is forgotten", file: "loop/fold-turns.ts", good: "{ ...call, inDoubt: true }", bad: "call" },
  { name: "a model call in doubt is forgotten", file: "loop/fold-turns.ts", good: "{ ...run.open, inDoubt: true }", bad: "run.open" },
  {
    name: "results stand in the order in which they came",
    file: "loop/transcript.ts",
    good: "group.sort((a, b) => a.order - b.order);",
    bad: "",
  },
  {
    name: "an abort is not received by the effects",
    file: "driver/session/running-effects.ts",
    good: "else if (run.abort) abort(run.limits.abortGraceMs);",
    bad: "",
  },
  {
    name: "an owner that lost the session continues",
    file: "driver/session/running-effects.ts",
    good: "    forget() {\n      generation++;",
    bad: "    forget() {\n      if (generation === 0) return;",
  },
  {
    name: "a lane publishes more after its end",
    file: "driver/session/running-effects.ts",
    good: "        lane?.close();\n        abort(0);",
    bad: "        abort(0);",
  },
  {
    name: "keys of inputs are not remembered",
    file: "driver/session/commands/accept-input.ts",
    good: "if (!twin) return undefined;",
    bad: "if (twin || !twin) return undefined;",
  },
  {
    name: "keys of answers are not remembered",
    file: "driver/session/commands/accept-results.ts",
    good: "if (earlier) return",
    bad: "if (earlier && false) return",
    script: "client tool answered again where another has its id by now",
  },
  {
    name: "a reader begins again with the event it had",
    file: "driver/log/read-event-history.ts",
    good: "compareCursors(event, after) > 0",
    bad: "compareCursors(event, after) >= 0",
  },
  {
    name: "what is missing of a lane is spliced in, not replaced",
    file: "driver/live/remote-lane.ts",
    good: "if (fold.n > before) this.#publish([{ ...fold.snapshot(), lane: this.id, n: fold.n }]);",
    bad: "if (fold.n > before) this.#publish(events.slice(-1));",
  },
  {
    name: "a steered message is dropped when the run ends",
    file: "loop/fold-turns.ts",
    good: 'run.steered.length > 0 ? withInputs(state.inputs, run.steered, "first") : state.inputs',
    bad: "state.inputs",
  },
  {
    name: "a tool starts after an abort",
    file: "loop/plan.ts",
    good: "if (run.abort) return planAbort(run);",
    bad: 'if (run.abort && !run.calls.some((call) => call.state === "pending")) return planAbort(run);',
  },
  {
    name: "deadlines are seen half a minute early",
    file: "driver/ownership/due-dates.ts",
    good: "call.deadline <= now",
    bad: "call.deadline <= now + 30_000",
  },
  {
    name: "an owner never stops by itself",
    file: "driver/setup/lease-shares.ts",
    good: "stop: 0.9",
    bad: "stop: 1_000",
  },
  {
    name: "a lease is renewed every third of it, and only a third later after a renewal that failed",
    file: "driver/setup/lease-shares.ts",
    good: "renew: 0.15,\n  answer: 0.1,\n  retry: 0.025,",
    bad: "renew: 1 / 3,\n  answer: 1 / 3,\n  retry: 1 / 3,",
  },
  {
    name: "a batch is given up before an outage of ten seconds is over",
    file: "driver/setup/driver-limits.ts",
    good: "outageMs: 15_000,",
    bad: "outageMs: 8_000,",
  },
  {
    name: "half a surrogate pair that the model emitted is kept",
    file: "message/mend-chunks.ts",
    good: "for (const chunk of chunks) this.#take(chunk, out);",
    bad: "out.push(...chunks);",
  },
  {
    name: "the end of an answer is published without what was missed of it",
    file: "driver/live/event-hub.ts",
    good: "if (unpublished.length > 0) batch.push(...unpublished);",
    bad: "void unpublished;",
  },
  {
    name: "a session continues under another agent",
    file: "driver/setup/bound-agent.ts",
    good: "if (state.agent !== undefined && state.agent !== base.name) throw",
    bad: "if (state.agent === base.name.repeat(2)) throw",
  },
  {
    name: "what came with a session is lost when it is restored",
    file: "driver/setup/bound-agent.ts",
    good: "Object.assign(bound, boundTo(base, wanted));",
    bad: "void wanted;",
  },
  {
    name: "a schedule with one date fires twice",
    file: "loop/due-schedules.ts",
    good: "if (everyMs === undefined || everyMs <= 0) return withoutSchedule(state, fired.id);",
    bad: "if (everyMs === undefined || everyMs <= 0) return fired.due % 2 === 0 ? withSchedule(state, { ...fired, due: fired.due + 1 }) : withoutSchedule(state, fired.id);",
  },
  {
    name: "the date of a schedule needs no owner",
    file: "driver/ownership/due-dates.ts",
    good: "if (firing !== undefined) dates.push(firing);",
    bad: "void firing;",
  },
  {
    name: "the missed dates of a schedule fire one by one",
    file: "loop/due-schedules.ts",
    good: "const missed = Math.max(0, Math.floor((at - due) / everyMs));",
    bad: "const missed = 0;",
  },
  // What the simulator found in core, put back.
  {
    name: "a caller that begins to listen to a lane that was left receives its middle without its beginning",
    file: "driver/live/remote-lane.ts",
    good: "if (this.#publishedN === 0) this.#relay?.publish(events);",
    bad: "if (this.#publishedN >= 0) this.#relay?.publish(events.filter(({ n }) => n > this.#publishedN));",
  },
  {
    name: "a caller that does not own a session wakes for its retry again and again",
    file: "driver/session/wake-up-sources.ts",
    good: "const isWaitedFor = this.#parts.session.isOwner || isAtRest(state);",
    bad: "const isWaitedFor = true;",
  },
  {
    name: "a retry waits for days because the clock of a dead owner was wrong",
    file: "driver/ownership/due-dates.ts",
    good: "return date > now && date - now <= retryWaitMaxMs;",
    bad: "return date > now;",
  },
];
