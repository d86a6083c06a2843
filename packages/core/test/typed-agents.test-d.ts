// What the type checker refuses and infers of agents, tools and results. `tsc` reads this file with the tests; nothing here runs.
import { z } from "zod";
import {
  type AgentSession,
  createAgent,
  createSession,
  createSimpleTool,
  defineTool,
  defineTools,
  type ExecuteResult,
  execute,
  type PendingToolCall,
  providerEntry,
} from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
const same = <One, Other>(_: Same<One, Other>): void => {};

const vendor = providerEntry((_: { readonly apiKey?: string } = {}) => scripted([]));
const model = vendor("large", { keyOwner: "user" });
const provider = vendor();

// A model has one form or the other.
createAgent({ name: "a", model });
createAgent({ name: "a", model: [model, vendor("small")] });
createAgent({ name: "a", provider });
createAgent({ name: "a", provider, model: "large" });
// @ts-expect-error: neither a model nor a provider
createAgent({ name: "a" });
// @ts-expect-error: the name of a model needs its provider
createAgent({ name: "a", model: "large" });
// @ts-expect-error: a provider beside a ModelRef, which has its own
createAgent({ name: "a", provider, model });
// @ts-expect-error: a provider is no model
createAgent({ name: "a", model: provider });
// @ts-expect-error: no such owner of a key
vendor("large", { keyOwner: "nobody" });
// @ts-expect-error: no such option of the vendor
vendor("large", { apikey: "k" });

// A set of hooks has a name.
createAgent({ name: "a", model, hooks: [{ name: "policy", gate: () => ({ action: "allow" }) }] });
// @ts-expect-error: verdicts and errors would not give whose they are
createAgent({ name: "a", model, hooks: [{ gate: () => ({ action: "allow" }) }] });

// A child's answer has the type of its agent's output.
createAgent({
  name: "lead",
  model,
  hooks: [
    {
      name: "critic",
      async decide({ child }) {
        const found = await child("city", createAgent({ name: "atlas", model, output: z.object({ name: z.string() }) }), "Where?");
        same<typeof found.output, { name: string } | undefined>(true);
        if (found.status === "completed") same<typeof found.output, { name: string }>(true);
        // @ts-expect-error: an agent that failed has no output
        else found.output.name;
        const plain = await child("plain", createAgent({ name: "plain", model }), "Where?");
        same<typeof plain.output, undefined>(true);
        // @ts-expect-error: a child has its input from its parent, not results of calls
        await child("results", createAgent({ name: "plain", model }), []);
      },
      // @ts-expect-error: there is no run that could have a child
      accept: ({ child }) => void child,
      // @ts-expect-error: nor when the run has ended
      run: { end: ({ child }) => void child },
    },
  ],
});

// The output of a schema is the type of `result.output`, through agent, session and streams.
const city = z.object({ name: z.string(), people: z.number().default(0) });
interface City {
  name: string;
  people: number;
}
const atlas = createAgent({ name: "atlas", model, output: city });
const session = createSession({ agent: atlas });
same<typeof session, AgentSession<City>>(true);
const result: ExecuteResult<City> = await execute(session, "Where?").result();
same<Awaited<ReturnType<ReturnType<typeof execute<City>>["result"]>>, ExecuteResult<City>>(true);
const answered = await (await session.answer("r.1.0", "x")).stream().result();
if (answered.status === "completed") same<typeof answered.output, City>(true);
same<typeof result.output, City | undefined>(true);
if (result.status === "completed") {
  same<typeof result.output, City>(true);
  // @ts-expect-error: a completed run has no error
  result.error.code;
} else if (result.status === "awaiting_tool_execution") {
  same<typeof result.pendingToolCalls, readonly PendingToolCall[]>(true);
  // @ts-expect-error: a run that waits has no output yet
  result.output.name;
} else {
  result.error.code;
  same<typeof result.status, "error" | "aborted">(true);
}
const plain = await execute(createAgent({ name: "a", model }), "Hi").result();
if (plain.status === "completed") same<typeof plain.output, undefined>(true);
// @ts-expect-error: without a check the error may be absent
plain.error.code;
// @ts-expect-error: a JSON Schema for the vendor needs a name
createAgent({ name: "a", model, output: { schema: { type: "object" } } });
const longForm = createAgent({ name: "a", model, output: { name: "city", schema: { type: "object" }, check: city } });
const checked = await execute(longForm, "Where?").result();
if (checked.status === "completed") same<typeof checked.output, City>(true);

// Resources: a tool states what it needs, and the agent must have it.
interface Db {
  count(table: string): number;
}
const defineDbTool = defineTools<{ readonly db: Db }>();
const count = defineDbTool({
  name: "count",
  description: "Counts rows.",
  parameters: z.object({ table: z.string() }),
  approval: ({ table }, { resources }) => table === "users" && resources.db.count(table) > 0,
  execute: ({ table }, { resources }) => resources.db.count(table),
});
const db: Db = { count: () => 1 };
createAgent({ name: "a", model, tools: [count], resources: { db } });
createAgent({ name: "a", model, tools: [count], resources: { db, more: 1 } });
// @ts-expect-error: the tool needs resources
createAgent({ name: "a", model, tools: [count] });
// @ts-expect-error: these are others
createAgent({ name: "a", model, tools: [count], resources: { cache: 1 } });
defineDbTool({
  name: "count",
  description: "Counts rows.",
  parameters: z.object({ table: z.string() }),
  // @ts-expect-error: no such resource
  execute: (_, { resources }) => resources.cache,
});
defineDbTool({
  name: "count",
  description: "Counts rows.",
  parameters: z.object({ table: z.string() }),
  // @ts-expect-error: no such argument
  execute: ({ rows }) => rows,
});

// Tools of any kind stand in one list, and their arguments have the types of their schemas.
const add = defineTool({
  name: "add",
  description: "Adds.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => {
    same<typeof a, number>(true);
    return a + b;
  },
});
const shout = createSimpleTool({ name: "shout", description: "Shouts.", parameters: z.object({ text: z.string() }) }, ({ text }) => ({
  output: text.toUpperCase(),
}));
const ask = defineTool({ name: "ask", description: "Asks the person.", parameters: { type: "object" } });
createAgent({ name: "a", model, tools: [add, shout, ask, count], resources: { db } });
defineTool({
  name: "add",
  description: "Adds.",
  parameters: z.object({ a: z.number() }),
  // @ts-expect-error: an approval is true, a text or a function
  approval: 7,
});
