import { AgentError, type SessionRef } from "@loopwright/core";
import { countedMemoryStore } from "@loopwright/core/internals";
import { type ManualClock, manualClock } from "@loopwright/core/memory";
import { refKey, type SessionLog } from "@loopwright/core/ports";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";

/** An honest log in memory that can do all that a test may ask of one, and its clock. */
export function faultyLog(): Required<LogUnderTest> & { readonly clock: ManualClock } {
  const clock = manualClock();
  const { store, work } = countedMemoryStore({ clock });
  const real = store.log;
  const damaged = new Map<string, number>();
  const ruined = new Set<string>();
  let isFull = false;
  let losesAnswer = false;
  let isOld = false;
  const corrupt = (seq: number): AgentError => new AgentError("SESSION_CORRUPT", { message: `The log is damaged at fact ${seq}.` });
  const damage = async (ref: SessionRef, seq: number): Promise<void> => void damaged.set(refKey(ref), seq);
  const checkRuin = (ref: SessionRef): void => {
    if (isOld) throw new AgentError("STORE_ROLLED_BACK", { message: "The store went back to an older state." });
    if (ruined.has(refKey(ref))) throw corrupt(1);
  };
  const log: SessionLog = {
    ...real,
    async head(ref) {
      checkRuin(ref);
      return real.head(ref);
    },
    async claim(ref, claim) {
      checkRuin(ref);
      return real.claim(ref, claim);
    },
    async append(ref, request) {
      checkRuin(ref);
      const seq = damaged.get(refKey(ref));
      if (seq !== undefined) throw corrupt(seq);
      if (isFull && JSON.stringify(request.facts).length > 500_000) return { type: "full" };
      const outcome = await real.append(ref, request);
      if (!losesAnswer) return outcome;
      losesAnswer = false;
      return { type: "unknown" };
    },
    async read(ref, options) {
      checkRuin(ref);
      const facts = await real.read(ref, options);
      const seq = damaged.get(refKey(ref));
      if (facts.some((fact) => fact.seq === seq)) throw corrupt(seq ?? 0);
      return facts;
    },
  };
  return {
    clock,
    log,
    reopen: async () => log,
    another: async () => log,
    advance: (ms) => clock.advance(ms),
    damage,
    tamper: damage,
    async rollBack() {
      return async () => {
        isOld = true;
      };
    },
    async ruin(ref) {
      ruined.add(refKey(ref));
    },
    async fill() {
      isFull = true;
      return async () => {
        isFull = false;
      };
    },
    loseAnswer() {
      losesAnswer = true;
    },
    work: async () => work(),
    patienceMs: 20,
  };
}
