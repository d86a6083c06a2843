/*
 * Owns: the handles of one process, one per session and kind, and the worker that drives sessions found by a hint or by a sweep.
 * Does not own: who speaks to a session (clients), when the process dies (node, storm).
 */
import { type AgentSession, createAgent, createSession, type SessionOptions } from "@loopwright/core";
import type { RunQueue, RunQueueWorker, SessionRef, SessionStore } from "@loopwright/core/ports";
import type { Dice } from "./dice.ts";
import type { SimulatedNode } from "./simulated-node.ts";

/** `server` records and follows, `worker` drives what it is hinted at, `all` does both with one handle. */
export type NodeRole = "all" | "server" | "worker";

export interface SessionHost {
  readonly node: SimulatedNode;
  readonly role: NodeRole;
  /** The store as this process sees it. */
  readonly store: SessionStore;
  /** The handle that clients speak to. */
  handle(session: string): AgentSession;
  /** A handle under an agent of another name, as of a program that was set up wrongly. It is not kept. */
  strange(session: string): AgentSession;
  /** Every handle there is. */
  readonly handles: readonly AgentSession[];
  /** Tells the workers that the session may have work. */
  hint(session: string): void;
  /** Lets go of one session, as of one that nobody used for long. */
  letGo(session: string): void;
  /** Lets go of everything, as before a planned end. */
  handOver(): Promise<void>;
}

export interface HostOptions {
  readonly node: SimulatedNode;
  readonly role: NodeRole;
  readonly scope: string;
  readonly dice: Dice;
  readonly queue: RunQueue;
  readonly store: SessionStore;
  /** What every handle of this process is made with. */
  readonly optionsOf: (session: string) => SessionOptions;
  readonly sweepMs: number;
}

/** Name of the agent that no session began with. */
export const strangeAgent = "stranger";

/** A session that has rested for so long is let go of by a worker. */
const restMs = 60;
/** Sessions that a worker drives at once. */
const concurrency = 8;

export function createHost(options: HostOptions): SessionHost {
  const { node, role, scope, queue, store } = options;
  const serving = new Map<string, AgentSession>();
  const driving = role === "all" ? serving : new Map<string, AgentSession>();
  let worker: RunQueueWorker | undefined;

  const open = (handles: Map<string, AgentSession>, session: string, drives: boolean): AgentSession => {
    const known = handles.get(session);
    if (known) return known;
    const handle = createSession({ ...options.optionsOf(session), drives });
    handles.set(session, handle);
    return handle;
  };
  const drive = async ({ session }: SessionRef): Promise<void> => {
    const handle = open(driving, session, true);
    await untilRested(handle, node);
    if (role === "worker" && driving.get(session) === handle) {
      driving.delete(session);
      await handle[Symbol.asyncDispose]();
    }
  };
  const sweep = async (): Promise<void> => {
    try {
      for (const { ref } of await store.log.due({ now: node.clock.now() })) await queue.offer(ref);
    } catch {
      // The next sweep finds what this one did not.
    }
    planSweep();
  };
  const planSweep = (): void => {
    node.clock.after(options.sweepMs * options.dice.between(0.8, 1.2), () => void sweep());
  };
  if (role !== "server") {
    worker = queue.work(drive, { concurrency });
    node.clock.after(options.sweepMs * options.dice.next(), () => void sweep());
  }

  return {
    node,
    role,
    store,
    handle: (session) => open(serving, session, role === "all"),
    strange(session) {
      const wanted = options.optionsOf(session);
      const agent = createAgent({ ...wanted.agent, name: strangeAgent });
      return createSession({ ...wanted, agent, node: `${node.name}-${strangeAgent}` });
    },
    get handles() {
      return [...new Set([...serving.values(), ...driving.values()])];
    },
    hint: (session) => void queue.offer({ scope, session }).catch(() => {}),
    letGo(session) {
      const handle = serving.get(session);
      serving.delete(session);
      void handle?.[Symbol.asyncDispose]();
    },
    async handOver() {
      await worker?.stop();
      const all = [...new Set([...serving, ...driving])];
      serving.clear();
      driving.clear();
      for (const [session, handle] of all) {
        const isOpen = handle.dueAt !== null;
        await handle[Symbol.asyncDispose]();
        if (isOpen) await queue.offer({ scope, session }).catch(() => {});
      }
    },
  };
}

/** Follows until nothing is owed and nothing has moved for a while. */
function untilRested(handle: AgentSession, node: SimulatedNode): Promise<void> {
  return new Promise((resolve) => {
    let round = 0;
    const stop = handle.follow({
      events() {
        round += 1;
      },
      rested() {
        const mine = ++round;
        node.clock.after(restMs, () => {
          if (mine !== round || !handle.isResting) return;
          const { dueAt } = handle;
          if (dueAt !== null && dueAt <= node.clock.now() + restMs) return;
          end();
        });
      },
      lost: () => end(),
    });
    const end = (): void => {
      stop();
      resolve();
    };
  });
}
