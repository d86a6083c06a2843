import { expect, it } from "vitest";
import { createAgent, createSession, defineTool, execute, type Fact, type FactOf } from "../src/index.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";
import type { ContextEngine, SessionStore } from "../src/ports/index.ts";

const scope = "local";
const session = "s1";

/** A store in which another process writes an input right before the end of a tool, so that the batch with that end is refused once. */
function storeWith(other: () => Promise<unknown>, onToolEnd: () => void): SessionStore {
  const store = memoryStore();
  let isOver = false;
  return {
    ...store,
    log: {
      ...store.log,
      async append(ref, request) {
        const hasEnd = (request.facts as readonly Fact[]).some(({ type }) => type === "tool.finished");
        if (hasEnd && !isOver) {
          isOver = true;
          await other();
        }
        const outcome = await store.log.append(ref, request);
        if (hasEnd && outcome.type === "ok") onToolEnd();
        return outcome;
      },
    },
  };
}

it("a preparation that began with numbers of facts that the log has refused begins again with those that it took", async () => {
  const ended = Promise.withResolvers<void>();
  const tips: (string | undefined)[] = [];
  const engine: ContextEngine = {
    open: () => ({
      fit: ({ history }) => history,
      async prepare({ turn, history }) {
        if (turn < 2) return undefined;
        tips.push(history.ids.at(-1));
        // A model writes the summary meanwhile.
        await ended.promise;
        return { compaction: { from: history.ids[0] ?? "", to: history.ids[0] ?? "", summary: "They asked." } };
      },
    }),
  };
  const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "seen" });
  const provider = scripted([{ calls: [{ name: "look", args: {} }] }, { text: "I saw it." }, { text: "Later, too." }]);
  const agent = createAgent({ name: "looker", provider, tools: [look], context: engine });
  const store: SessionStore = storeWith(async () => {
    await using beside = createSession({ agent, store, id: session, drives: false });
    await beside.submit("And later?");
  }, ended.resolve);
  await using handle = createSession({ agent, store, id: session });
  expect((await execute(handle, "Look!").result()).text).toBe("I saw it.");
  const facts = await store.log.read({ scope, session });
  const end = facts.find((fact): fact is FactOf<"tool.finished"> => fact.type === "tool.finished");
  const compacted = facts.find((fact): fact is FactOf<"context.compacted"> => fact.type === "context.compacted");
  // The first preparation had the number of a batch that was refused.
  expect(tips).toEqual([String((end?.seq ?? 0) - 1), String(end?.seq)]);
  expect(compacted?.path).toBe(String(end?.seq));
});
