import type { EphemeralEvent, SessionEvent } from "@loopwright/core";
import { seededRandom } from "@loopwright/core/memory";
import { type SimulatedStep, simulatedSession } from "./simulated-session.ts";

interface Events {
  readonly step: SimulatedStep;
  readonly events: readonly SessionEvent[];
}

type ChildStart = Extract<SessionEvent, { readonly type: "agent_start" }>;

/** A child that runs, and what it has not streamed yet. */
interface OpenChild {
  readonly start: ChildStart;
  readonly rest: SessionEvent[];
}

const childSteps = 8;

/** The events with those that the children of calls stream between their start and their end, in the lanes of these calls. */
export function withChildEvents(run: readonly Events[], seed: number): readonly Events[] {
  const random = seededRandom(seed);
  const children = new Map<string, OpenChild>();
  const lanes = new Map<string, number>();
  const counts = new Map<number, number>();
  const counted = (event: EphemeralEvent): EphemeralEvent => {
    const n = (counts.get(event.lane) ?? 0) + 1;
    counts.set(event.lane, n);
    return { ...event, n };
  };
  return run.map(({ step, events }) => {
    const all: SessionEvent[] = [];
    for (const event of events) {
      if ("lane" in event) {
        all.push(counted(event));
        continue;
      }
      all.push(event);
      if (event.type === "tool_execution_start") lanes.set(event.callKey, event.seq);
      if (event.type === "agent_start" && !children.has(event.session)) children.set(event.session, childOf(event, seed));
      if (event.type === "agent_end") children.delete(event.session);
    }
    if (step.isAsking) return { step, events: all };
    for (const { start, rest } of children.values()) {
      const { callKey, session, agent, seq } = start;
      if (callKey === undefined) continue;
      const lane = lanes.get(callKey) ?? seq;
      for (const event of rest.splice(0, Math.floor(random() * 5)))
        all.push(counted({ type: "agent_delta", callKey, session, agent, event, lane, n: 0 }));
    }
    return { step, events: all };
  });
}

function childOf(start: ChildStart, seed: number): OpenChild {
  const { session } = start;
  const events = simulatedSession(seed + start.seq, { steps: childSteps }).flatMap((step) => step.events);
  return { start, rest: events.map((event) => ("seq" in event ? { ...event, sessionId: session } : event)) };
}
