import type { ConnectionState, FollowedEvent, FollowOptions } from "@loopwright/client";
import { AgentError, type DurableEvent, type SessionSnapshot } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { type OpenSession, openSession } from "./open-session.ts";

const snapshot: SessionSnapshot = {
  sessionId: "s1",
  agent: "demo",
  status: "idle",
  createdAt: 0,
  updatedAt: 0,
  cursor: "1.0",
  messages: [],
  head: null,
  waiting: [],
};

const titled = (seq: number, title: string): DurableEvent => ({ type: "session_changed", title, seq, k: 0, at: seq, sessionId: "s1" });

interface Connection {
  readonly after: string | undefined;
  readonly signal: AbortSignal | undefined;
  send(...events: readonly FollowedEvent[]): Promise<void>;
  fail(error: AgentError): Promise<void>;
  say(state: ConnectionState): void;
}

interface Scene {
  readonly session: OpenSession;
  readonly connections: readonly Connection[];
  /** Shows what came, as a frame would. */
  paint(): void;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function scene(): Scene {
  const connections: Connection[] = [];
  let frames: (() => void)[] = [];
  async function* follow(_: string, { after, signal, onState }: FollowOptions): AsyncGenerator<readonly FollowedEvent[]> {
    let next = Promise.withResolvers<readonly FollowedEvent[]>();
    signal?.addEventListener("abort", () => next.resolve([]));
    connections.push({
      after,
      signal,
      say: (state) => onState?.(state),
      async send(...events) {
        next.resolve(events);
        await settle();
      },
      async fail(error) {
        next.reject(error);
        await settle();
      },
    });
    while (!signal?.aborted) {
      const events = await next.promise;
      next = Promise.withResolvers();
      if (events.length > 0) yield events;
    }
  }
  const session = openSession({ follow }, "s1", (act) => frames.push(act));
  const paint = (): void => {
    const due = frames;
    frames = [];
    for (const act of due) act();
  };
  return { session, connections, paint };
}

it("many events are shown in one change, at the next frame", async () => {
  const { session, connections, paint } = scene();
  let changes = 0;
  session.subscribe(() => {
    changes += 1;
  });
  expect(session.read().phase).toBe("loading");
  await connections[0]?.send({ type: "session_snapshot", snapshot }, titled(2, "a"));
  await connections[0]?.send(titled(3, "b"), { type: "rest" });
  expect(changes).toBe(0);
  paint();
  expect(changes).toBe(1);
  expect(session.read()).toMatchObject({ phase: "open", view: { title: "b", cursor: "3.0" } });
});

it("an event that the server sends twice changes nothing, and a snapshot replaces everything before it", async () => {
  const { session, connections, paint } = scene();
  await connections[0]?.send({ type: "session_snapshot", snapshot }, titled(2, "a"));
  paint();
  const { view } = session.read();
  await connections[0]?.send(titled(2, "again"));
  paint();
  expect(session.read().view).toBe(view);
  await connections[0]?.send(titled(3, "b"), { type: "session_snapshot", snapshot: { ...snapshot, title: "restored" } });
  paint();
  expect(session.read().view).toMatchObject({ title: "restored", cursor: "1.0" });
});

it("a lost connection is reported, keeps the view, and resumes after the last event that was shown", async () => {
  const { session, connections, paint } = scene();
  await connections[0]?.send({ type: "session_snapshot", snapshot }, titled(2, "a"));
  paint();
  connections[0]?.say({ state: "waiting", retryInMs: 5 });
  expect(session.read()).toMatchObject({ connection: "lost", phase: "open" });
  session.retry();
  expect(connections[0]?.signal?.aborted).toBe(true);
  expect(connections[1]?.after).toBe("2.0");
  connections[1]?.say({ state: "open" });
  await connections[1]?.send(titled(3, "b"));
  paint();
  expect(session.read()).toMatchObject({ connection: "live", view: { title: "b" } });
});

it("a session at rest closes its connection and opens it again; a healthy connection is not touched", async () => {
  const { session, connections, paint } = scene();
  session.rest();
  session.retry();
  expect(connections).toHaveLength(1);
  await connections[0]?.send({ type: "session_snapshot", snapshot });
  paint();
  session.rest();
  expect(connections[0]?.signal?.aborted).toBe(true);
  session.retry();
  expect(connections.map(({ after }) => after)).toEqual([undefined, "1.0"]);
});

it("a session that is gone is missing, and any other refusal can be tried again", async () => {
  const gone = scene();
  await gone.connections[0]?.fail(new AgentError("SESSION_NOT_FOUND", { message: "gone" }));
  expect(gone.session.read()).toMatchObject({ phase: "missing", error: { code: "SESSION_NOT_FOUND" } });
  const refused = scene();
  await refused.connections[0]?.fail(new AgentError("FORBIDDEN", { message: "no" }));
  expect(refused.session.read().phase).toBe("failed");
  refused.session.retry();
  expect(refused.session.read().phase).toBe("loading");
  await refused.connections[1]?.send({ type: "session_snapshot", snapshot });
  refused.paint();
  expect(refused.session.read().phase).toBe("open");
});

it("after it was closed no listener is called", async () => {
  const { session, connections, paint } = scene();
  let changes = 0;
  session.subscribe(() => {
    changes += 1;
  });
  session.close();
  expect(connections[0]?.signal?.aborted).toBe(true);
  await connections[0]?.send({ type: "session_snapshot", snapshot });
  paint();
  session.retry();
  expect([changes, connections.length]).toEqual([0, 1]);
});
