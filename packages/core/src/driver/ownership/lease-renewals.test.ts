import { describe, expect, it } from "vitest";
import { AgentError } from "../../errors.ts";
import { manualClock } from "../../memory/manual-clock.ts";
import { memoryStore } from "../../memory/store/memory-store.ts";
import type { LeaseRenewal, SessionLog } from "../../ports/session-log.ts";
import { renewLease } from "./lease-renewals.ts";

const leaseMs = 20_000;

/** Leases of so many sessions on one log, claimed over a second, and what the log was asked. */
async function held(count: number, own: (real: SessionLog) => Partial<SessionLog> = () => ({})) {
  const clock = manualClock();
  const { log: real } = memoryStore({ clock });
  const commands: (readonly LeaseRenewal[])[] = [];
  const single: string[] = [];
  const honest: SessionLog = {
    ...real,
    renew: (ref, lease) => {
      single.push(ref.session);
      return real.renew(ref, lease);
    },
    renewAll: (renewals) => {
      commands.push(renewals);
      return Promise.all(renewals.map(({ ref, ...lease }) => real.renew(ref, lease)));
    },
  };
  const log: SessionLog = { ...honest, ...own(honest) };
  const answers: [string, boolean][] = [];
  const renewing = [];
  for (let index = 0; index < count; index++) {
    const ref = { scope: "local", session: `s${index}` };
    await real.claim(ref, { node: "one", leaseMs });
    const answered = (isRenewed: boolean): void => void answers.push([ref.session, isRenewed]);
    renewing.push(renewLease({ ref, epoch: 1, leaseMs, answered }, { log, clock, confirmedAt: clock.monotonic() }));
    clock.advance(1_000 / count);
  }
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 250) {
      clock.advance(250);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
  };
  return { clock, real, commands, single, answers, renewing, pass };
}

describe("the leases of one process", () => {
  it("are renewed in one command, at most 256 of them, however far apart they were claimed", async () => {
    const { commands, single, answers, pass } = await held(300);
    await pass(3_000);
    expect([commands.map(({ length }) => length), single, answers.length]).toEqual([[256, 44], [], 300]);
    commands.splice(0);
    await pass(12_000);
    expect(commands.map(({ length }) => length)).toEqual([256, 44, 256, 44, 256, 44, 256, 44]);
  });

  it("are asked for one by one when the command fails for another reason than that the store is away", async () => {
    const damaged = () => Promise.reject(new AgentError("SESSION_CORRUPT", { message: "One is damaged." }));
    const { single, answers, pass } = await held(3, (log) => ({
      renewAll: damaged,
      renew: (ref, lease) => (ref.session === "s1" ? damaged() : log.renew(ref, lease)),
    }));
    await pass(2_500);
    expect([single, answers]).toEqual([
      ["s0", "s2"],
      [
        ["s0", true],
        ["s2", true],
      ],
    ]);
  });

  it("are not asked for one by one when the store is away, and again half a second later", async () => {
    let isAway = true;
    const asked: number[] = [];
    const { single, answers, pass } = await held(3, (log) => ({
      renewAll(renewals) {
        asked.push(renewals.length);
        return isAway
          ? Promise.reject(new AgentError("STORE_UNAVAILABLE", { message: "Away." }))
          : (log.renewAll?.(renewals) ?? Promise.resolve([]));
      },
    }));
    await pass(3_000);
    const before = asked.length;
    isAway = false;
    await pass(500);
    expect([single, before > 1, answers.length]).toEqual([[], true, 3]);
  });

  it("are asked for again while the store gives no answer, and a late answer counts", async () => {
    const late: (() => void)[] = [];
    const { answers, pass, single } = await held(1, (log) => ({
      renew: (ref, lease) => new Promise((resolve) => late.push(() => void log.renew(ref, lease).then(resolve))),
    }));
    await pass(5_000);
    expect(late).toHaveLength(2);
    late[0]?.();
    await pass(250);
    expect([answers, single]).toEqual([[["s0", true]], ["s0"]]);
  });

  it("that are ended are asked for no more, and leave no timer", async () => {
    const { clock, commands, renewing, pass } = await held(2);
    for (const one of renewing) one.end();
    expect(clock.pending).toBe(0);
    await pass(5_000);
    expect(commands).toEqual([]);
  });
});
