/*
 * Owns: the retries of a client's request, at any process. Does not own: the request.
 */
import { type AgentSession, isAgentError } from "@loopwright/core";
import type { Dice } from "../world/dice.ts";
import type { SimulatedHost } from "../world/simulated-host.ts";
import type { World } from "../world/simulated-world.ts";

/** The outcome of one request: a value, a final refusal, or unknown. */
export type Answer<T> = { readonly value: T } | { readonly refusal: string } | "unknown";

export interface Requests {
  /** Tries until there is an answer, or until the client gives up. */
  insist<T>(what: string, act: (handle: AgentSession) => Promise<T>): Promise<Answer<T>>;
  /** Those without an answer yet. */
  readonly openCount: number;
}

export interface RequestsOptions {
  readonly world: World;
  readonly name: string;
  readonly session: string;
  readonly dice: Dice;
  readonly delayMs: () => number;
  /** True: never gives up. Default: one in five does. */
  readonly isPatient: boolean;
}

/** After so long without an answer a client tries again. */
const patienceMs = 4_000;
const triesMax = 6;

export function createRequests(options: RequestsOptions): Requests {
  const { world, name, dice } = options;
  const { time, trace } = world;
  let openCount = 0;
  return {
    get openCount() {
      return openCount;
    },
    async insist(what, act) {
      openCount += 1;
      const isPatient = options.isPatient || dice.chance(0.8);
      for (let tries = 1; ; tries++) {
        const answer = await askOnce(options, world.anyHost(dice), act);
        if (answer !== "unknown" || (tries >= triesMax && !isPatient)) {
          openCount -= 1;
          const outcome = answer === "unknown" ? "gave up" : "value" in answer ? "acknowledged" : answer.refusal;
          trace.add(time.nowMs, `${name} ${what}: ${outcome} after ${tries}`);
          return answer;
        }
        await new Promise<void>((resolve) => void time.schedule(dice.between(50, 200) * Math.min(8, 2 ** tries), resolve));
      }
    },
  };
}

function askOnce<T>(
  { world, session, delayMs }: RequestsOptions,
  host: SimulatedHost,
  act: (handle: AgentSession) => Promise<T>,
): Promise<Answer<T>> {
  const { time } = world;
  const { node } = host;
  return new Promise((resolve) => {
    time.schedule(patienceMs, () => resolve("unknown"));
    const reply = (answer: Answer<T>): void => {
      if (node.state !== "dead") time.schedule(delayMs(), () => resolve(answer));
    };
    const arrive = (): void => {
      if (node.state === "dead") return;
      answerOf(host, session, act).then(
        (value) => reply({ value }),
        (error: unknown) => reply(isRefusal(error) ? { refusal: error.code } : "unknown"),
      );
    };
    time.schedule(delayMs(), () => node.enter(arrive));
  });
}

/** The session is lent for as long as the request takes. */
async function answerOf<T>(host: SimulatedHost, session: string, act: (handle: AgentSession) => Promise<T>): Promise<T> {
  const lent = await host.lend(session);
  try {
    return await act(lent.session);
  } finally {
    lent.release();
  }
}

/** True for an error that is neither temporary nor caused by a released handle. */
const isRefusal = (error: unknown): error is { readonly code: string } =>
  isAgentError(error) && !error.retryable && error.code !== "RUN_ABORTED";
