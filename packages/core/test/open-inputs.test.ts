import { expect, it } from "vitest";
import { acceptInput, type NewInput } from "../src/driver/session/commands/accept-input.ts";
import { createAgent, createSession, execute } from "../src/index.ts";
import type { FactBody } from "../src/loop/fact.ts";
import { foldAll } from "../src/loop/fold.ts";
import { emptyState } from "../src/loop/state.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";

/** Entries of earlier inputs that are read to accept one more, in a session that has answered so many. */
async function readsAfter(answered: number): Promise<number> {
  const store = memoryStore();
  const agent = createAgent({ name: "helper", provider: scripted(() => ({ text: "ok" })) });
  const session = createSession({ agent, store });
  for (let input = 0; input < answered; input++) await execute(session, `Question ${input}.`).result();
  await session.submit("One that waits.");
  const facts = await store.log.read({ scope: "local", session: session.id });
  // The last input waits in this state, whatever became of it since.
  const state = foldAll(emptyState, facts.slice(0, facts.findLastIndex(({ type }) => type === "input.accepted") + 1));
  let reads = 0;
  const counted = (chunk: object): object =>
    new Proxy(chunk, {
      get(items, name) {
        if (typeof name === "string" && /^\d+$/.test(name)) reads += 1;
        return Reflect.get(items, name);
      },
    });
  const known = { ...state.known, chunks: state.known.chunks.map(counted) } as typeof state.known;
  const input: NewInput = {
    inputId: "new",
    runId: "new",
    message: { role: "user", content: "One more." },
    regenerate: undefined,
    options: {},
    keyedDigest: undefined,
  };
  const accept = (): void => {
    const deps = { sessionId: session.id, access: { scope: "local", user: "local" } };
    acceptInput({ ...state, known }, input, { deps: deps as never, opening: {} as FactBody, isOwner: true });
  };
  // The first one makes the indices of this copy.
  accept();
  reads = 0;
  accept();
  return reads;
}

it("An input of a long session is accepted at the cost of what is open, not of all inputs before it", async () => {
  const few = await readsAfter(2);
  expect(few).toBeGreaterThan(0);
  expect(await readsAfter(300)).toBe(few);
});
