import { seededRandom } from "@loopwright/core/memory";
import type { SessionEvent } from "@loopwright/core/protocol";
import { type SimulatedStep, simulatedSession } from "@loopwright/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyEvents } from "./apply-events.ts";
import type { SessionView, ViewCall } from "./session-view.ts";
import { latestBelow, siblingsOf, versionsOf } from "./versions-of.ts";
import { viewOf } from "./view-of.ts";

/** The step after which a simulated session is open, because its initial context has no events. */
const opened = 1;

const forAnySession = (check: (steps: readonly SimulatedStep[], random: () => number) => void, numRuns = 60): void =>
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => check(simulatedSession(seed), seededRandom(seed))),
    { numRuns },
  );

const stepAt = (steps: readonly SimulatedStep[], place: number): SimulatedStep => steps[place] as SimulatedStep;

/** The value after JSON, as a client gets it. */
const wired = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const viewAt = (steps: readonly SimulatedStep[], place: number): SessionView => {
  const step = stepAt(steps, place);
  return applyEvents(viewOf(wired(step.snapshot())), wired(step.lanes()));
};

/** The part of a view that does not depend on when the client began to follow. */
function shown(view: SessionView): unknown {
  const { cursor: _, updatedAt: __, verdicts: ___, messages, children, path, calls, answer, run, ...rest } = view;
  return {
    ...rest,
    // A failure is shown only for a moment, and verdicts are only those since the view began.
    run: run && { ...run, failure: undefined },
    messages: [...messages.values()].map(({ timings: _, verdicts: __, ...message }) => message),
    children: [...children].map(([parent, ids]) => [parent, [...ids]]),
    path: path.map(({ id }) => id),
    calls: [...calls.values()].filter(({ callKey }) => callKey.startsWith(`${run?.runId}.`)).map(shownCall),
    answer: answer && { lane: answer.lane, runId: answer.runId, parent: answer.parent, text: textOf(answer.parts) },
  };
}

const textOf = (parts: NonNullable<SessionView["answer"]>["parts"]): readonly string[] =>
  parts.flatMap((part) => (part.type === "tool_call" || part.text === "" ? [] : [`${part.type}: ${part.text}`]));

function shownCall({ label: _, progress, n: __, verdicts: ___, startedAt, args, ...call }: ViewCall): unknown {
  // Edited arguments come with the start of the call; the snapshot of a finished call has the model's own arguments.
  return call.state === "running" ? { ...call, args, startedAt } : call.state === "done" ? { ...call, progress } : { ...call, args };
}

describe("the view of any session", () => {
  it("is the same whether it began at the start or with a snapshot of any later moment", () => {
    forAnySession((steps, random) => {
      const whole = steps.slice(opened + 1).reduce((view, { events }) => applyEvents(view, wired(events)), viewAt(steps, opened));
      for (let round = 0; round < 4; round++) {
        const from = opened + Math.floor(random() * (steps.length - opened));
        const later = steps.slice(from + 1).reduce((view, { events }) => applyEvents(view, wired(events)), viewAt(steps, from));
        expect(shown(later)).toEqual(shown(whole));
      }
    });
  });

  it("shows after every fact what a snapshot of that moment shows", () => {
    forAnySession((steps) => {
      let view = viewAt(steps, opened);
      for (let place = opened + 1; place < steps.length; place++) {
        view = applyEvents(view, wired(stepAt(steps, place).events));
        expect(shown(view)).toEqual(shown(viewAt(steps, place)));
      }
    }, 25);
  });

  it("has the transcript of the core as its path, after every fact", () => {
    forAnySession((steps) => {
      let view = viewAt(steps, opened);
      for (const step of steps.slice(opened + 1)) {
        view = applyEvents(view, step.events);
        const { ids, messages } = step.transcript();
        expect(view.path.map(({ id }) => id)).toEqual(ids);
        expect(view.path.map(({ message }) => message)).toEqual(messages);
      }
    });
  });

  it("does not depend on how the events are cut into batches", () => {
    forAnySession((steps, random) => {
      const all = steps.slice(opened + 1).flatMap(({ events }) => events);
      const single = all.reduce((view, event) => applyEvents(view, [event]), viewAt(steps, opened));
      let view = viewAt(steps, opened);
      for (let from = 0; from < all.length; ) {
        const to = from + 1 + Math.floor(random() * 20);
        view = applyEvents(view, all.slice(from, to));
        from = to;
      }
      expect({ ...view, calls: [...view.calls] }).toEqual({ ...single, calls: [...single.calls] });
    });
  });

  it("is healed by snapshots of the lanes when deltas are dropped", () => {
    forAnySession((steps, random) => {
      let whole = viewAt(steps, opened);
      let lossy = whole;
      for (const step of steps.slice(opened + 1)) {
        const kept = step.events.filter((event) => "seq" in event || random() < 0.5);
        whole = applyEvents(whole, step.events);
        lossy = applyEvents(applyEvents(lossy, kept), step.lanes());
        expect(shown(lossy)).toEqual(shown(whole));
      }
    });
  });

  it("changes nothing, not even its identity, for frames that come again in any order", () => {
    forAnySession((steps, random) => {
      let view = viewAt(steps, opened);
      const before: SessionEvent[] = [];
      for (const { events } of steps.slice(opened + 1)) {
        view = applyEvents(view, events);
        before.push(...events);
        const again = Array.from({ length: 10 }, () => before[Math.floor(random() * before.length)]).filter((event) => event !== undefined);
        expect(applyEvents(view, again)).toBe(view);
      }
    });
  });

  it("does not change any view that was passed in", () => {
    forAnySession((steps) => {
      const views: SessionView[] = [viewAt(steps, opened)];
      const values = [JSON.stringify(contentOf(views[0] as SessionView))];
      for (const { events } of steps.slice(opened + 1)) {
        const next = applyEvents(views.at(-1) as SessionView, events);
        views.push(next);
        values.push(JSON.stringify(contentOf(next)));
      }
      expect(views.map((view) => JSON.stringify(contentOf(view)))).toEqual(values);
    }, 20);
  });

  it("changes only the answer or one call with a delta", () => {
    let deltas = 0;
    forAnySession((steps) => {
      let view = viewAt(steps, opened);
      for (const event of steps.slice(opened + 1).flatMap(({ events }) => events)) {
        const next = applyEvents(view, [event]);
        if (!("seq" in event)) {
          deltas += 1;
          const { answer, calls, ...rest } = next;
          expect(rest).toEqual(Object.fromEntries(Object.keys(rest).map((key) => [key, view[key as keyof SessionView]])));
          for (const key of ["messages", "children", "path", "waiting", "pendingToolCalls"] as const) expect(next[key]).toBe(view[key]);
          const changed = [...calls].filter(([callKey, call]) => view.calls.get(callKey) !== call);
          expect(changed.length + (answer === view.answer ? 0 : 1)).toBeLessThanOrEqual(1);
        }
        view = next;
      }
    }, 20);
    expect(deltas).toBeGreaterThan(100);
  });

  it("finds the versions of each message and the way to the newest end below it", () => {
    let branched = 0;
    forAnySession((steps) => {
      const view = viewAt(steps, steps.length - 1);
      for (const [id, { parent, message }] of view.messages) {
        const versions = versionsOf(view, id);
        expect(siblingsOf(view, id)).toContain(id);
        expect(versions).toContain(id);
        expect(versions.every((version) => view.messages.get(version)?.parent === parent)).toBe(true);
        expect(versions.every((version) => view.messages.get(version)?.message.role === message.role)).toBe(true);
        if (versions.length > 1) branched += 1;
        expect(view.children.get(latestBelow(view, id))).toBeUndefined();
      }
    });
    expect(branched).toBeGreaterThan(0);
  });
});

function contentOf(view: SessionView): unknown {
  return { ...view, messages: [...view.messages], children: [...view.children], calls: [...view.calls] };
}
