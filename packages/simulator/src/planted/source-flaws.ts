/** A flaw that is written into a copy of the sources of core. */
export interface SourceFlaw {
  readonly name: string;
  /** Below `packages/core/src`. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly good: string;
  readonly bad: string;
  /** The conversation that shows it, crashed at every place: seeds would have to chance upon it. */
  readonly script?: string;
}

const driver = "driver/session/session-driver.ts";

/** All flaws that no port can have. Core has no hooks for any of them: what is run is a copy in which one place was changed. */
export const sourceFlaws: readonly SourceFlaw[] = [
  {
    name: "events are published before the log has their facts",
    file: driver,
    good: "if (isForLog(decision, this.state)) return",
    bad: "if (isForLog(decision, this.state)) this.hub.publish(speculation.events);\n    if (isForLog(decision, this.state)) return",
  },
  {
    name: "effects are launched before their intent is in the log",
    file: driver,
    good: "if (isForLog(decision, this.state)) return",
    bad: "if (lease) for (const launch of launches.splice(0)) launch({ state: speculation.state, isStopped: false });\n    if (isForLog(decision, this.state)) return",
  },
  {
    name: "a lease is released before the last batch is written",
    file: driver,
    good: "if (isForLog(decision, this.state)) return",
    bad: "if (rests) await this.deps.store.log.release(this.deps.ref, lease?.epoch ?? 0);\n    if (isForLog(decision, this.state)) return",
  },
  {
    name: "every event is published twice",
    file: driver,
    good: "this.hub.publish(events);",
    bad: "this.hub.publish(events);\n    this.hub.publish(events);",
  },
  {
    name: "what was offered is forgotten when others were faster",
    file: driver,
    good: "this.inbox.putBack(offers);",
    bad: "void offers;",
  },
  {
    name: "a call of class once is run again when it is in doubt",
    file: "loop/pending-calls.ts",
    good: 'policy.replay !== "once" && ',
    bad: "",
  },
  { name: "a call in doubt is forgotten", file: "loop/turns.ts", good: "{ ...call, inDoubt: true }", bad: "call" },
  { name: "a model call in doubt is forgotten", file: "loop/turns.ts", good: "{ ...run.open, inDoubt: true }", bad: "run.open" },
  {
    name: "results stand in the order in which they came",
    file: "loop/transcript.ts",
    good: "group.sort((a, b) => a.order - b.order);",
    bad: "",
  },
  {
    name: "an abort is not heard by who runs the effects",
    file: "driver/session/effects.ts",
    good: "else if (run.abort) abort(run.limits.abortGraceMs);",
    bad: "",
  },
  {
    name: "an owner that lost the session goes on",
    file: "driver/session/effects.ts",
    good: "    forget() {\n      generation++;",
    bad: "    forget() {\n      if (generation === 0) return;",
  },
  {
    name: "a lane tells on after its end",
    file: "driver/session/effects.ts",
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
    file: "driver/log/history.ts",
    good: "compareCursors(event, after) > 0",
    bad: "compareCursors(event, after) >= 0",
  },
  {
    name: "what is missing of a lane is spliced in, not replaced",
    file: "driver/live/foreign-lane.ts",
    good: "if (fold.n > before) this.#tell([{ ...fold.snapshot(), lane: this.id, n: fold.n }]);",
    bad: "if (fold.n > before) this.#tell(events.slice(-1));",
  },
  {
    name: "a steered message is dropped when the run ends",
    file: "loop/turns.ts",
    good: 'run.steered.length > 0 ? withInputs(state.inputs, run.steered, "first") : state.inputs',
    bad: "state.inputs",
  },
  {
    name: "a tool starts after an abort",
    file: "loop/plan.ts",
    good: "if (run.abort) return planAbort(run);",
    bad: 'if (run.abort && !run.calls.some((call) => call.stage === "owed")) return planAbort(run);',
  },
  {
    name: "deadlines are seen half a minute early",
    file: "driver/ownership/dates.ts",
    good: "call.deadline <= now",
    bad: "call.deadline <= now + 30_000",
  },
  {
    name: "an owner never stops by itself",
    file: "driver/setup/session-options.ts",
    good: "stop: 0.9",
    bad: "stop: 1_000",
  },
  {
    name: "a lease is renewed every third of it, and only a third later after a renewal that failed",
    file: "driver/setup/session-options.ts",
    good: "renew: 0.15,\n  answer: 0.1,\n  retry: 0.025,",
    bad: "renew: 1 / 3,\n  answer: 1 / 3,\n  retry: 1 / 3,",
  },
  {
    name: "a batch is given up before an outage of ten seconds is over",
    file: "driver/setup/session-options.ts",
    good: "outageMs: 15_000,",
    bad: "outageMs: 8_000,",
  },
  {
    name: "half a surrogate pair that the model said is kept",
    file: "message/mend-chunks.ts",
    good: "for (const chunk of chunks) this.#take(chunk, out);",
    bad: "out.push(...chunks);",
  },
  {
    name: "the end of an answer is told without what was missed of it",
    file: "driver/live/hub.ts",
    good: "batch.push(...untold, event);",
    bad: "batch.push(event);",
  },
  {
    name: "a session goes on under another agent",
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
  // What the simulator found in core, put back.
  {
    name: "who begins to listen to a lane that was left hears its middle without its beginning",
    file: "driver/live/foreign-lane.ts",
    good: "if (this.#toldN === 0) this.#told?.tell(events);",
    bad: "if (this.#toldN >= 0) this.#told?.tell(events.filter(({ n }) => n > this.#toldN));",
  },
  {
    name: "who does not own a session wakes for its retry again and again",
    file: driver,
    good: "const isWaitedFor = this.isOwner || isAtRest(this.state);",
    bad: "const isWaitedFor = true;",
  },
  {
    name: "a retry waits for days because the clock of a dead owner was wrong",
    file: "driver/ownership/dates.ts",
    good: "return date > now && date - now <= retryWaitMaxMs;",
    bad: "return date > now;",
  },
];
