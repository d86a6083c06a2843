import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createAgent, createSession, execute, type Fact } from "../src/index.ts";
import { at } from "../src/loop/append-list.ts";
import { isEndedChild } from "../src/loop/children/background-children.ts";
import { eventsOf } from "../src/loop/events-of.ts";
import { fold, foldAll } from "../src/loop/fold.ts";
import { factKinds } from "../src/loop/kinds/fact-kinds.ts";
import { plan } from "../src/loop/plan.ts";
import { type Growth, growthOf, noLengths, restOf, type StateRest, stateFrom } from "../src/loop/split-state-for-snapshot.ts";
import { emptyState, isAtRest, type State } from "../src/loop/state.ts";
import { transcriptOf } from "../src/loop/transcript.ts";
import { upCast } from "../src/loop/up-cast-old-facts.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import { digestOf } from "../src/message/digest.ts";
import { appendLimits } from "../src/ports/session-log.ts";
import { createRequestBuilder } from "../src/prompt/request-builder.ts";
import { goldenSessions, playedLog } from "./golden-sessions.ts";
import { numbered, writtenLogs } from "./written-logs.ts";

/*
 * Logs that some build has written, one fact a line. A log is never written again: every later build must fold it to what it sent when it was
 * new. With LOOPWRIGHT_WRITE_LOGS=1 the logs and digests of this version that do not exist yet are written; nothing that exists is touched.
 */
const logs = new URL("logs/", import.meta.url);

/** The logs of one version, and what each of them states. */
interface Shelf {
  readonly version: number;
  readonly folder: URL;
}

const shelves: readonly Shelf[] = [
  { version: 1, folder: logs },
  { version: 2, folder: new URL("version-2/", logs) },
];
const today = shelves.at(-1) as Shelf;

/** What a log states, in short: its messages as people see them, its events, and its whole state. */
interface Digests {
  readonly messages: string;
  readonly events: string;
  readonly state: string;
}

const fileOf = ({ folder }: Shelf, name: string): URL => new URL(`${name}.jsonl`, folder);
const digestsFile = ({ folder }: Shelf): URL => new URL("digests.json", folder);
const kept = (shelf: Shelf): { readonly [name: string]: Digests } =>
  existsSync(digestsFile(shelf)) ? JSON.parse(readFileSync(digestsFile(shelf), "utf8")) : {};
const writtenFacts = (shelf: Shelf, name: string): readonly Fact[] =>
  readFileSync(fileOf(shelf, name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Fact);
const logOf = (shelf: Shelf, name: string): readonly Fact[] => upCast(writtenFacts(shelf, name));

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
  const digests = { ...kept(today) };
  mkdirSync(today.folder, { recursive: true });
  for (const name of [...Object.keys(goldenSessions), ...Object.keys(writtenLogs)]) {
    const file = fileOf(today, name);
    const facts = existsSync(file) ? [] : name in writtenLogs ? numbered(writtenLogs[name] ?? []) : await playedLog(name);
    if (facts.length > 0) writeFileSync(file, facts.map((fact) => `${JSON.stringify(fact)}\n`).join(""));
    digests[name] ??= digestsOf(logOf(today, name));
  }
  writeFileSync(digestsFile(today), `${JSON.stringify(digests, null, 2)}\n`);
}

if (process.env["LOOPWRIGHT_WRITE_LOGS"]) await writeMissing();
const namesOn = ({ folder }: Shelf): readonly string[] =>
  readdirSync(folder).flatMap((file) => (file.endsWith(".jsonl") ? [file.slice(0, -6)] : []));

describe("the golden logs", () => {
  it("are all there, each with its digests", () => {
    expect([...namesOn(today)].sort()).toEqual([...Object.keys(goldenSessions), ...Object.keys(writtenLogs)].sort());
    for (const shelf of shelves) expect(Object.keys(kept(shelf)).sort()).toEqual([...namesOn(shelf)].sort());
  });

  it("hold every kind of fact that there is", () => {
    const seen = new Set(namesOn(today).flatMap((name) => writtenFacts(today, name).map(({ type }) => type)));
    expect([...seen].sort()).toEqual(Object.keys(factKinds).sort());
  });

  it("were written by builds of their version", () => {
    for (const shelf of shelves)
      for (const name of namesOn(shelf)) expect(new Set(writtenFacts(shelf, name).map(({ v }) => v))).toEqual(new Set([shelf.version]));
  });

  it("of version 1 keep the ids of their messages, and give the events of a session that is played today", () => {
    for (const name of namesOn(shelves[0] as Shelf)) {
      const [old, fresh] = shelves.map((shelf) => foldAll(emptyState, logOf(shelf, name))) as [State, State];
      const { ids, messages } = transcriptOf(old);
      // What the session began with has the number of its opening, and a place.
      const answers = writtenFacts(shelves[0] as Shelf, name).flatMap(({ type, seq }) => (type === "model.finished" ? [String(seq)] : []));
      const written = messages
        .flatMap(({ role }, place) => (role === "assistant" ? [ids[place] ?? ""] : []))
        .filter((id) => !id.includes("."));
      for (const id of written) expect(answers).toContain(id);
      const texts = (state: State): readonly unknown[] => transcriptOf(state).messages.map(({ role }) => role);
      expect(texts(fresh)).toEqual(texts(old));
    }
  });
});

describe.each(shelves.flatMap((shelf) => namesOn(shelf).map((name) => [shelf.version, name, shelf] as const)))(
  "the golden log of version %i: %s",
  (_, name, shelf) => {
    const facts = logOf(shelf, name);

    it("gives the events that it gave when it was written", () => {
      expect(digestsOf(facts)).toEqual(kept(shelf)[name]);
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
      const takesNone = facts.at(-1)?.type === "session.closed" || isEndedChild(foldAll(emptyState, facts));
      if (takesNone) await expect(result).rejects.toMatchObject({ code: "SESSION_CLOSED" });
      else expect((await result).text).toBe("Here I am again.");
    });
  },
);
