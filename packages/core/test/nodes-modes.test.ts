import { findEventViolation } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import {
  type AgentError,
  type AgentSession,
  createAgent,
  type Fact,
  isAgentError,
  type SessionEvent,
  type SubmitOptions,
} from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import { seededRandom } from "../src/memory/seeded-random.ts";
import { calm } from "./harness.ts";
import { drive, type Nodes, nodeStore, nodes, receivedBy } from "./nodes.ts";

type Mode = NonNullable<SubmitOptions["mode"]>;

/** An input on its way, and what became of it. */
interface Written {
  readonly text: string;
  readonly key: string;
  readonly mode: Mode;
  readonly from: AgentSession;
  outcome: "pending" | "accepted" | "replayed" | string;
}

interface Crowd {
  readonly scene: Nodes;
  readonly sessions: readonly AgentSession[];
  readonly published: readonly (readonly SessionEvent[])[];
  readonly written: readonly Written[];
  readonly facts: readonly Fact[];
}

/** Some nodes that drive and some that do not, all of which give things in every mode, again and at once. */
async function crowd(seed: number): Promise<Crowd> {
  const random = seededRandom(seed);
  const chance = (share: number): boolean => random() < share;
  const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const scene = nodes({ publishes: chance(0.5), hasChannel: chance(0.7) });
  const { clock } = scene;
  const provider = scripted(() => ({
    text: "a short answer",
    chunkSize: 3,
    after: new Promise<void>((resolve) => void clock.after(random() * 400, resolve)),
  }));
  const agent = createAgent({ name: "tester", provider });
  const held = Array.from({ length: 6 }, () => nodeStore(scene.store, { publishes: chance(0.5) }));
  const sessions = held.map(({ store }, place) => scene.node({ agent, store, drives: place < 3 }));
  const published = sessions.map((session, place) => (place < 3 ? receivedBy(drive(session)) : receivedBy(session)));
  const written: Written[] = [];
  const say = (text: string, key: string, mode: Mode): void => {
    const from = oneOf(sessions);
    const one: Written = { text, key, mode, from, outcome: "pending" };
    written.push(one);
    from.submit(text, { idempotencyKey: key, mode }).then(
      ({ replayed }) => {
        one.outcome = replayed ? "replayed" : "accepted";
      },
      (error: unknown) => {
        one.outcome = isAgentError(error) ? error.code : "other";
      },
    );
  };
  for (let step = 0; step < 40; step++) {
    const mode = oneOf<Mode>(["enqueue", "steer", "interrupt", "reject"]);
    const before = written.at(-1);
    if (before && chance(0.25)) say(before.text, before.key, before.mode);
    else say(`input ${step}`, `key ${step}`, mode);
    const store = oneOf(held);
    if (chance(0.2)) store.hold();
    if (chance(0.4)) for (const one of held) one.letThrough();
    if (chance(0.3)) await calm();
    if (chance(0.3)) await scene.pass(random() * 600, 50);
  }
  for (const one of held) one.letThrough();
  for (
    let second = 0;
    second < 120 && !(sessions.every(({ isResting }) => isResting) && written.every(({ outcome }) => outcome !== "pending"));
    second++
  )
    await scene.pass(1_000, 250);
  await scene.pass(3_000, 250);
  return { scene, sessions, published, written, facts: await scene.facts() };
}

const textsOf = (facts: readonly Fact[]): readonly string[] =>
  facts.flatMap((fact) => (fact.type === "input.accepted" && typeof fact.message?.content === "string" ? [fact.message.content] : []));

describe("messages that are sent to many nodes at once", () => {
  it("are each in the log once when they were accepted, and each run of theirs ends once", async () => {
    const outcomes = new Map<string, number>();
    for (let seed = 1; seed <= 40; seed++) {
      const { written, facts, sessions, published } = await crowd(seed);
      const name = `seed ${seed}`;
      const accepted = textsOf(facts);
      expect(new Set(accepted).size, name).toBe(accepted.length);
      for (const { text, outcome, mode } of written) {
        outcomes.set(`${mode} ${outcome}`, (outcomes.get(`${mode} ${outcome}`) ?? 0) + 1);
        expect(["accepted", "replayed", "SESSION_BUSY", "STORE_UNAVAILABLE", "STORE_CONFLICT"], name).toContain(outcome);
        if (outcome === "accepted" || outcome === "replayed") expect(accepted, name).toContain(text);
      }
      const startsOf = facts.filter((fact) => fact.type === "run.started").map((fact) => fact.runId);
      const endsOf = facts.filter((fact) => fact.type === "run.finished").map((fact) => fact.runId);
      expect(endsOf, name).toEqual(startsOf);
      const spoken = sessions[0]?.messages.flatMap((message) => (message.role === "user" ? [message.content] : []));
      expect([...(spoken ?? [])].sort(), name).toEqual([...accepted].sort());
      for (const session of sessions) {
        expect(session.messages, name).toEqual(sessions[0]?.messages);
        expect(session.isResting, name).toBe(true);
      }
      for (const events of published) expect(findEventViolation(events, { joins: true, mayLoseDeltas: true }), name).toBeUndefined();
    }
    for (const mode of ["enqueue", "steer", "interrupt", "reject"])
      for (const outcome of ["accepted", "replayed"])
        expect(outcomes.get(`${mode} ${outcome}`) ?? 0, `${mode} ${outcome}`).toBeGreaterThan(5);
    expect(outcomes.get("reject SESSION_BUSY") ?? 0).toBeGreaterThan(5);
  });

  it("are accepted in the order in which one node sent them", async () => {
    const { node, facts, pass } = nodes();
    const [a, b] = [node({ drives: false }), node({ drives: false })];
    await Promise.all([0, 1, 2, 3, 4].flatMap((place) => [a.submit(`a${place}`), b.submit(`b${place}`)]));
    await pass(100);
    const texts = textsOf(await facts());
    expect(texts.filter((text) => text.startsWith("a"))).toEqual(["a0", "a1", "a2", "a3", "a4"]);
    expect(texts.filter((text) => text.startsWith("b"))).toEqual(["b0", "b1", "b2", "b3", "b4"]);
  });

  it.each([
    ["steer", "the same run", ["run.finished"]],
    ["interrupt", "a run of its own, after the open one was stopped", ["run.finished", "run.finished"]],
    ["enqueue", "a run of its own, after the open one", ["run.finished", "run.finished"]],
  ] as const)("(%s) join %s, though another node runs it", async (mode, _, ends) => {
    const scene = nodes();
    const { node, model, pass, types } = scene;
    drive(node());
    const publisher = node({ drives: false });
    const first = await publisher.submit("one");
    await calm();
    const second = await publisher.submit("two", { mode });
    expect(second.runId === first.runId).toBe(mode === "steer");
    await calm();
    expect(model[0]?.isClosed).toBe(mode === "interrupt");
    for (let call = 0; call < 2; call++) {
      model[call]?.say("well");
      model[call]?.end();
      await pass(300);
    }
    expect((await types()).filter((type) => type === "run.finished")).toEqual(ends);
    expect(model).toHaveLength(2);
  });

  it("(reject) are refused on a node that does not know the run of another yet", async () => {
    const { node } = nodes({ publishes: false, hasChannel: false });
    const late = node({ drives: false });
    await late.ready();
    await drive(node()).submit("one");
    await expect(late.submit("two", { mode: "reject" })).rejects.toMatchObject({ code: "SESSION_BUSY" } satisfies Partial<AgentError>);
  });
});
