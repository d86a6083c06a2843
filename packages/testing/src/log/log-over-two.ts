import type { SessionRef } from "@loopwright/core";
import type { SessionLog } from "@loopwright/core/ports";
import { expectThat } from "../kit/kit.ts";
import type { Make, StoreCase } from "../kit/store-case.ts";
import type { LogUnderTest } from "./log-under-test.ts";

/** Which of two processes each call of a log goes to, over and over: a process that remembers its own calls alone is wrong in one of them. */
const schedules = ["AB", "ABBA"] as const;

/** What such a case is called. */
export const idOverTwo = (id: string): string => `${id}-over-two`;

/**
 * The same promises of one log that two processes have open: their calls go to one and to the other in turn. Cases that reopen the store, or open
 * another process by themselves, are left out.
 */
export function overTwo(cases: readonly StoreCase<LogUnderTest>[]): readonly StoreCase<LogUnderTest>[] {
  const own = cases.filter(({ needs = [] }) => !needs.includes("reopen") && !needs.includes("another"));
  return own.map(({ id, promise, needs = [], run }) => ({
    id: idOverTwo(id),
    promise: `${promise}; so also over two processes in turn`,
    needs: [...needs, "another"],
    async run(make) {
      let subject = await twoOf(make);
      for (const [at, schedule] of schedules.entries()) {
        // A store costs time to open; where time passes, each schedule begins at the same moment of it.
        if (at > 0 && needs.includes("time")) subject = await twoOf(make);
        const log = inTurn(subject.logs, schedule);
        await run(async () => ({ ...subject, log }));
      }
    },
  }));
}

async function twoOf(make: Make<LogUnderTest>): Promise<LogUnderTest & { readonly logs: readonly [SessionLog, SessionLog] }> {
  const subject = await make();
  expectThat(subject.another !== undefined, "The subject has no `another`: give it one, or name the lack `another`.");
  return { ...subject, logs: [subject.log, await subject.another()] };
}

/** A log whose calls go to one or the other of two, in scopes and sessions of its own. */
function inTurn(logs: readonly [SessionLog, SessionLog], schedule: string): SessionLog {
  const name = schedule.toLowerCase();
  let calls = 0;
  const next = (): SessionLog => logs[schedule[calls++ % schedule.length] === "A" ? 0 : 1];
  const own = ({ scope, session }: SessionRef): SessionRef => ({ scope: `${scope}_${name}`, session: `${session}_${name}` });
  const [{ renewAll, subscribe }] = logs;
  return {
    append: (ref, request) => next().append(own(ref), request),
    read: (ref, options) => next().read(own(ref), options),
    head: (ref) => next().head(own(ref)),
    claim: (ref, claim) => next().claim(own(ref), claim),
    renew: (ref, lease) => next().renew(own(ref), lease),
    release: (ref, epoch) => next().release(own(ref), epoch),
    due: (options) => next().due(options),
    setDue: (ref, options) => next().setDue(own(ref), options),
    remove: (ref) => next().remove(own(ref)),
    ...(renewAll ? { renewAll: (all) => renewAll(all.map(({ ref, ...lease }) => ({ ref: own(ref), ...lease }))) } : {}),
    ...(subscribe ? { subscribe: (ref, listener) => next().subscribe?.(own(ref), listener) ?? (() => {}) } : {}),
  };
}
