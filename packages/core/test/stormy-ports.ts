import { AgentError } from "../src/errors.ts";
import type { AppendOutcome, EventChannel, SessionLog } from "../src/ports/index.ts";
import type { Process } from "./many-handles-outcome.ts";
import type { StormDice } from "./storm-dice.ts";

/** A channel that loses events at random while it storms. */
export function lossyChannel(channel: EventChannel, dice: StormDice): EventChannel {
  return {
    ...channel,
    publish: (session, events) => {
      const kept = events.filter(() => !(dice.isStormy && dice.isChance(0.05)));
      if (kept.length > 0) channel.publish(session, kept);
    },
  };
}

/** The log as a process sees it: late, failing in every way it may, and silent once the process is dead. */
export function stormyLog(log: SessionLog, dice: StormDice, process: () => Process): SessionLog {
  const never = new Promise<never>(() => {});
  const asked = async <T>(act: () => Promise<T>): Promise<T> => {
    await dice.takeTurns();
    if (process().state === "dead") return never;
    if (dice.isStormy && dice.isChance(0.01)) throw new AgentError("STORE_UNAVAILABLE", { message: "A fault." });
    const value = await act();
    await dice.takeTurns();
    return process().state === "dead" ? never : value;
  };
  const append = async (act: () => Promise<AppendOutcome>): Promise<AppendOutcome> => {
    const fate = dice.isStormy ? dice.random() : 1;
    if (fate < 0.02) process().state = "dead";
    else if (fate < 0.06) return { type: "unknown" };
    const outcome = await asked(act);
    if (fate < 0.08) {
      process().state = "dead";
      return never;
    }
    return fate < 0.12 ? { type: "unknown" } : outcome;
  };
  const isDeaf = dice.isChance(0.3);
  return {
    append: (session, request) => append(() => log.append(session, request)),
    read: (session, options) => asked(() => log.read(session, options)),
    head: (session) => asked(() => log.head(session)),
    claim: (session, claim) => asked(() => log.claim(session, claim)),
    renew: (session, lease) => asked(() => log.renew(session, lease)),
    release: (session, epoch) => asked(() => log.release(session, epoch)),
    remove: (session) => asked(() => log.remove(session)),
    due: (options) => asked(() => log.due(options)),
    setDue: (session, options) => asked(() => log.setDue(session, options)),
    ...(isDeaf || !log.subscribe
      ? {}
      : {
          subscribe: (session, listener) =>
            (log.subscribe as NonNullable<SessionLog["subscribe"]>)(session, (seq) => process().state !== "dead" && listener(seq)),
        }),
  };
}
