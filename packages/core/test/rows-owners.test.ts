import { describe, expect, it } from "vitest";
import { AgentError, defineTool, execute, type SessionEvent, textOf } from "../src/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { Json } from "../src/message/json.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { processes, settled, untilDead } from "./dying-processes.ts";
import { dyingStore } from "./dying-store.ts";
import { calm, deferred, eventsOf, ofType } from "./harness.ts";
import { drive, nodes, receivedBy } from "./nodes.ts";

/*
 * Rows 26, 27, 29 and 30 of docs/recovery.md: what an owner leaves half done, untold or late. More of the last two: nodes-outage, nodes-pause.
 */
const never = new Promise<never>(() => {});

/** A process whose n-th write of a snapshot is its last, and only half there. */
function dyingAtSnapshot(inner: SessionStore, at: number): { readonly store: SessionStore; readonly isDead: () => boolean } {
  const dying = dyingStore(inner);
  let puts = 0;
  const put: SessionStore["snapshots"]["put"] = async (session, name, value) => {
    if (dying.isDead) return never;
    puts += 1;
    if (puts === at) dying.kill();
    await inner.snapshots.put(session, name, puts === at ? halfOf(value) : value);
    return dying.isDead ? never : undefined;
  };
  return { store: { ...dying, snapshots: { ...inner.snapshots, put } }, isDead: () => dying.isDead };
}

function halfOf(value: Json): Json {
  if (typeof value === "string") return value.slice(0, value.length / 2);
  const members = Object.entries(value ?? {}).map(([key, member]) => [key, typeof member === "string" ? halfOf(member) : member]);
  return Object.fromEntries(members) as Json;
}

describe("the recovery table", () => {
  it.each([1, 2])(
    "row 26: a snapshot of which a process left half (its write %i) is ignored: the session has the state of its log",
    async (at) => {
      const texts = Array.from({ length: 60 }, (_, turn) => `Answer ${turn}.`);
      const made = processes(texts.map((text) => ({ text })));
      const dying = dyingAtSnapshot(made.store, at);
      const session = made.again({ store: dying.store });
      for (let turn = 0; turn < texts.length && !dying.isDead(); turn++) {
        const outcome = execute(session, `Question ${turn}`).result();
        for (let round = 0; round < 20 && !dying.isDead() && !(await isSettled(outcome)); round++) await calm();
      }
      expect(dying.isDead()).toBe(true);
      made.outlive();
      const facts = await made.facts();
      const next = await made.boot().session.ready();
      const answers = next.messages.flatMap((message) => (message.role === "assistant" ? [textOf(message)] : []));
      const committed = facts.flatMap((fact) => (fact.type === "model.finished" ? [textOf(fact.message)] : []));
      expect([answers, next.lastSeq]).toEqual([committed, facts.length]);
      expect(committed.length).toBeGreaterThan(20);
      expect((await settled(execute(next, "And now?").result(), made)).text).toMatch(/^Answer/);
    },
  );

  it("row 27: a run whose end was durable and never published is read from the log, and needs nothing more", async () => {
    const made = processes([{ text: "Hello." }]);
    const dying = made.boot({ at: 2, when: "after" });
    const received: string[] = [];
    const stream = execute(dying.session, "go", { idempotencyKey: "k" });
    void (async () => {
      for await (const { type } of stream) received.push(type);
    })().catch(() => {}); // The dead receive nothing, or that their store is away.
    await untilDead(dying);
    expect([(await made.types()).at(-1), received.includes("run_end")]).toEqual(["run.finished", false]);
    made.outlive();
    expect(await made.store.log.due({ now: made.clock.now() })).toEqual([]);
    const before = await made.facts();
    const client = made.client();
    const next = made.boot().session;
    await client.connect(next);
    expect(client.typesOf(/^(message_end|run_end)$/)).toEqual(["message_end", "message_end", "run_end"]);
    const again = await eventsOf(execute(next, "go", { idempotencyKey: "k" }));
    expect(again.at(-1)).toMatchObject({ type: "execute_complete", status: "completed" });
    expect([await made.facts(), made.provider.requests.length]).toEqual([before, 1]);
  });

  it("row 29: an answer in the middle of which the store goes away is aborted when that lasts, and streamed again once it is back", async () => {
    const { node, store, pass, model, types } = nodes();
    const away = { is: false };
    const asked =
      <Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>) =>
      async (...args: Args): Promise<T> => {
        if (away.is) throw new AgentError("STORE_UNAVAILABLE", { message: "Away." });
        return act(...args);
      };
    const { append, read, head, claim, renew, release, ...log } = store.log;
    const faulty = { append: asked(append), read: asked(read), head: asked(head), claim: asked(claim), renew: asked(renew) };
    const owner = node({ store: { ...store, log: { ...log, ...faulty, release: asked(release) } } });
    const received = receivedBy(owner);
    await owner.submit("go");
    await calm();
    model[0]?.say("Once ");
    await calm();
    away.is = true;
    await pass(8_000);
    model[0]?.say("upon ");
    await calm();
    expect([model[0]?.isClosed, deltasOf(received)]).toEqual([false, "Once upon "]);
    await pass(11_000);
    expect([model[0]?.isClosed, model.length, owner.isOwner]).toEqual([true, 1, false]);
    away.is = false;
    const after = receivedBy(owner); // Watchers were notified that the session is lost, and comes back.
    await pass(10_000);
    model[1]?.say("Anew.");
    model[1]?.end();
    await pass(500);
    const durable = after.map(({ type }) => type).filter((type) => /^(attempt_discarded|message_end|run_end)$/.test(type));
    expect([durable, deltasOf(received), deltasOf(after)]).toEqual([
      ["attempt_discarded", "message_end", "run_end"],
      "Once upon ",
      "Anew.",
    ]);
    expect((await types()).filter((type) => type.startsWith("model."))).toEqual([
      "model.started",
      "model.failed",
      "model.started",
      "model.finished",
    ]);
  });

  it("row 30: an owner that slept for a minute in mid-answer is fenced at its first append, drops all, and publishes what the next one wrote", async () => {
    const { node, store, pass, model, facts } = nodes({ publishes: false, hasChannel: false }); // Nothing reaches a stopped process.
    const own = manualClock(); // Stands still: the process is stopped.
    const outcomes: string[] = [];
    const append: SessionStore["log"]["append"] = async (session, request) => {
      const outcome = await store.log.append(session, request);
      outcomes.push(outcome.type);
      return outcome;
    };
    const sleeper = node({ clock: own, store: { ...store, log: { ...store.log, append } } });
    const stream = execute(sleeper, "go");
    const published = eventsOf(stream);
    await calm();
    model[0]?.say("Once ");
    await calm();
    const written = outcomes.length;
    drive(node());
    await pass(60_000, 1_000);
    model[1]?.say("Anew.");
    model[1]?.end();
    await pass(1_000);
    model[0]?.say("upon a time.");
    model[0]?.end();
    await calm();
    own.advance(60_000);
    await calm();
    expect(new Set(outcomes.slice(written))).toEqual(new Set(["fenced"]));
    expect(await stream.result()).toMatchObject({ status: "completed", text: "Anew." });
    const committed = (await facts()).filter((fact) => fact.type === "model.finished");
    expect(committed.map((fact) => [fact.epoch, textOf(fact.message)])).toEqual([[2, "Anew."]]);
    expect(ofType(await published, "attempt_discarded")).toMatchObject([{ code: "CRASHED" }]);
    expect(sleeper.messages).toHaveLength(2);
    expect(model).toHaveLength(2);
  });

  it("row 30: an owner that slept for a minute while its tool ran has the late result refused: the call stays interrupted", async () => {
    const late = deferred<string>();
    const starts: string[] = [];
    const act = defineTool({
      name: "act",
      description: "Acts.",
      parameters: { type: "object" },
      execute(_, { callKey }) {
        starts.push(callKey);
        return late.promise;
      },
    });
    const made = processes(
      ({ messages }: { messages: readonly { role: string }[] }) =>
        messages.some(({ role }) => role === "tool_result") ? { text: "Done." } : { calls: [{ name: "act" }] },
      { tools: [act] },
    );
    const { subscribe: _, ...log } = made.store.log; // Nothing reaches a stopped process.
    const outcomes: string[] = [];
    const append: typeof log.append = async (session, request) => {
      const outcome = await log.append(session, request);
      outcomes.push(outcome.type);
      return outcome;
    };
    const own = manualClock();
    const sleeper = made.again({ clock: own, store: { ...made.store, log: { ...log, append } } });
    const old = execute(sleeper, "go").result();
    await calm();
    made.clock.advance(60_000);
    const next = made.boot().session;
    expect((await made.finish(next)).text).toBe("Done.");
    const before = await made.facts();
    late.resolve("late");
    await calm();
    expect(outcomes.at(-1)).toBe("fenced");
    expect((await settled(old, { clock: own })).text).toBe("Done.");
    expect([await made.facts(), starts.length]).toEqual([before, 1]);
    expect(await made.factsOf("tool.finished")).toMatchObject([{ outcome: "interrupted" }]);
  });
});

const deltasOf = (events: readonly SessionEvent[]): string =>
  events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : [])).join("");

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol("open");
  return (await Promise.race([promise.catch(() => {}), calm().then(() => open)])) !== open;
}
