import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createAgent, createSession, execute, type Fact, type FactType } from "../src/index.ts";
import { at } from "../src/loop/append-list.ts";
import { eventsOf } from "../src/loop/events-of.ts";
import { fold, foldAll } from "../src/loop/fold.ts";
import { plan } from "../src/loop/plan.ts";
import { emptyState, isAtRest, type State } from "../src/loop/state.ts";
import { type Growth, growthOf, noLengths, restOf, type StateRest, stateFrom } from "../src/loop/state-image.ts";
import { transcriptOf } from "../src/loop/transcript.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import { digestOf } from "../src/message/digest.ts";
import { appendLimits } from "../src/ports/session-log.ts";
import { createRequestBuilder } from "../src/prompt/request-builder.ts";
import { goldenSessions, playedLog } from "./golden-sessions.ts";

/*
 * Logs that some build has written, one fact a line. A log is never written again: every later build must fold it to what it said when it was
 * new. With LOOPWRIGHT_WRITE_LOGS=1 the logs and digests that do not exist yet are written; nothing that exists is touched.
 */
const folder = new URL("logs/", import.meta.url);
const digestsFile = new URL("digests.json", folder);

/** What a log says, in short: its messages as people see them, its events, and its whole state. */
interface Digests {
  readonly messages: string;
  readonly events: string;
  readonly state: string;
}

/** Every kind of fact; the compiler asks for an entry when one is added. */
const writtenToday: { readonly [Type in FactType]: boolean } = {
  "session.opened": true,
  "session.changed": true,
  "session.closed": true,
  "input.accepted": true,
  "head.moved": true,
  "owner.claimed": true,
  "run.started": true,
  "model.started": true,
  "model.finished": true,
  "model.failed": true,
  "wait.scheduled": true,
  "tool.started": true,
  "tool.finished": true,
  "client.requested": true,
  "client.answered": true,
  "approval.requested": true,
  "approval.decided": true,
  "child.linked": false,
  "abort.requested": true,
  "limit.reached": true,
  "context.compacted": false,
  "run.finished": true,
};

const fileOf = (name: string): URL => new URL(`${name}.jsonl`, folder);
const kept = (): { readonly [name: string]: Digests } => (existsSync(digestsFile) ? JSON.parse(readFileSync(digestsFile, "utf8")) : {});
const logOf = (name: string): readonly Fact[] =>
  readFileSync(fileOf(name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Fact);

/** As JSON, with keys in order and lists as lists, so that neither decides. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    if ("chunks" in member && "length" in member)
      return Array.from({ length: Number(member.length) }, (__, place) => at(member as State["history"], place));
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function digestsOf(facts: readonly Fact[]): Digests {
  const events: unknown[] = [];
  let state = emptyState;
  for (const fact of facts) {
    events.push(...eventsOf(state, fact));
    state = fold(state, fact);
  }
  const { ids, messages } = transcriptOf(state);
  const digest = (value: unknown): string => digestOf(canonical(value));
  return { messages: digest([ids, messages]), events: digest(events), state: digest(state) };
}

async function writeMissing(): Promise<void> {
  const digests = { ...kept() };
  for (const name of Object.keys(goldenSessions)) {
    if (!existsSync(fileOf(name))) writeFileSync(fileOf(name), (await playedLog(name)).map((fact) => `${JSON.stringify(fact)}\n`).join(""));
    digests[name] ??= digestsOf(logOf(name));
  }
  writeFileSync(digestsFile, `${JSON.stringify(digests, null, 2)}\n`);
}

if (process.env["LOOPWRIGHT_WRITE_LOGS"]) await writeMissing();
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".jsonl") ? [file.slice(0, -6)] : []));

describe("the golden logs", () => {
  it("are all there, each with its digests", () => {
    expect([...names].sort()).toEqual(Object.keys(goldenSessions).sort());
    expect(Object.keys(kept()).sort()).toEqual([...names].sort());
  });

  it("hold every kind of fact that the driver writes", () => {
    const seen = new Set(names.flatMap((name) => logOf(name).map(({ type }) => type)));
    const written = Object.entries(writtenToday).flatMap(([type, isWritten]) => (isWritten ? [type] : []));
    expect([...seen].sort()).toEqual(written.sort());
  });
});

describe.each(names)("the golden log %s", (name) => {
  const facts = logOf(name);

  it("says what it said when it was written", () => {
    expect(digestsOf(facts)).toEqual(kept()[name]);
  });

  it("is at rest, owes nothing, and gives every prefix an answer", () => {
    const state = foldAll(emptyState, facts);
    expect(isAtRest(state)).toBe(true);
    expect(plan(state)).toEqual({ facts: [], effects: [] });
    const builder = createRequestBuilder();
    let before = emptyState;
    for (const fact of facts) {
      before = fold(before, fact);
      plan(before);
      expect(builder.build(before)).toBeDefined();
    }
  });

  it("is the same at every prefix when its state was taken apart and put together again", () => {
    let state = emptyState;
    for (const fact of facts) {
      state = fold(state, fact);
      const growth = growthOf(state, noLengths);
      const kept = JSON.parse(JSON.stringify({ rest: restOf(state), growth })) as { rest: StateRest; growth: Growth };
      expect(canonical(stateFrom(kept.rest, [kept.growth]))).toBe(canonical(state));
    }
  });

  it("can be gone on with by this build", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const ref = { scope: "local", session: name };
    for (let from = 0; from < facts.length; from += appendLimits.facts) {
      const drafts = facts.slice(from, from + appendLimits.facts).map(({ seq: _, epoch: __, ...draft }) => draft);
      await store.log.append(ref, { expectedSeq: from, batchId: `b${from}`, facts: drafts });
    }
    const provider = scripted([{ text: "Here I am again." }]);
    const session = createSession({ agent: createAgent({ name: "tester", provider }), id: name, store, clock });
    await session.ready();
    expect(session.messages).toEqual(transcriptOf(foldAll(emptyState, facts)).messages);
    const result = execute(session, "Are you there?").result();
    if (facts.at(-1)?.type === "session.closed") await expect(result).rejects.toMatchObject({ code: "SESSION_CLOSED" });
    else expect((await result).text).toBe("Here I am again.");
  });
});
