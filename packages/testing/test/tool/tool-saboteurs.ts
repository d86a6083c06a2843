import { AgentError, type JsonObject, type Tool, type ToolContext, type ToolEvent } from "@loopwright/core";
import type { MakeTool, ToolSubject } from "../../src/tool/tool-kit.ts";

const secret = "sk-saboteur-0123456789";

/** A tool that keeps every promise: repeats a word, one delta each time, and fails when asked for less than nothing. */
async function* repeat({ word, times }: JsonObject, { signal }: ToolContext): AsyncGenerator<ToolEvent, void> {
  if (Number(times) < 0) throw new Error("There is no negative number of times.");
  for (let at = 0; at < Number(times); at++) {
    signal.throwIfAborted();
    yield { type: "delta", delta: String(word) };
  }
  yield { type: "complete", output: undefined, details: { times: Number(times) } };
}

type Execute = (args: JsonObject, context: ToolContext) => AsyncGenerator<ToolEvent, void>;

function subjectOf(change: Partial<Tool>, execute: Execute = repeat): ToolSubject {
  const tool: Tool = {
    name: "repeat",
    description: "Repeats a word several times.",
    parameters: { type: "object", properties: { word: { type: "string" }, times: { type: "integer" } }, required: ["word", "times"] },
    replay: "pure",
    execute: (args, context) => execute(args as JsonObject, context),
    ...change,
  };
  return { tool, args: { word: "again", times: 4 }, failingArgs: { word: "never", times: -1 }, secrets: [secret] };
}

/** The honest tool that the saboteurs are made of. */
export const makeHonestTool: MakeTool = async () => subjectOf({});

/** A tool with one defect: the proof that the kit can fail. */
export interface ToolSaboteur {
  /** Continues "a tool that ...". */
  readonly defect: string;
  /** How the one promise begins that it breaks. */
  readonly promise: string;
  readonly make: MakeTool;
}

/** One for every promise of the kit. */
export const toolSaboteurs: readonly ToolSaboteur[] = [
  {
    defect: "has no description",
    promise: "has a name",
    make: async () => subjectOf({ description: "" }),
  },
  {
    defect: "has a schema with a hole in it",
    promise: "has a schema",
    make: async () => subjectOf({ parameters: { ...makeSchema(), $comment: undefined as never } }),
  },
  {
    defect: "knows its arguments by identity",
    promise: "answers well",
    // Works for the very object it was shown, as a cache by identity would.
    make: async () => {
      const subject = subjectOf({});
      return withExecute(subject, async function* (args, context) {
        if (args !== subject.args && Number(args["times"]) > 0) throw new Error("These arguments are not known.");
        yield* repeat(args, context);
      });
    },
  },
  {
    defect: "writes into its arguments",
    promise: "leaves its arguments",
    make: async () =>
      subjectOf({}, async function* (args, context) {
        yield* repeat(args, context);
        Object.assign(args, { seen: true });
      }),
  },
  {
    defect: "gives a function among its details",
    promise: "gives details",
    make: async () => subjectOf({}, (args, context) => altered(repeat(args, context), { details: { later: () => 1 } as never })),
  },
  {
    defect: "states more than its output limit",
    promise: "keeps to its output limit",
    make: async () => subjectOf({ outputMax: 18 }),
  },
  {
    defect: "claims to stream and states all at the end",
    promise: "speaks before",
    make: async () => subjectOf({}, (args, context) => gathered(repeat(args, context))),
  },
  {
    defect: "continues after its completion",
    promise: "emits nothing after its completion",
    make: async () =>
      subjectOf({}, async function* (args, context) {
        yield* repeat(args, context);
        if (!context.signal.aborted) yield { type: "delta", delta: "one more thing" };
      }),
  },
  {
    defect: "does not look at its signal between deltas",
    promise: "emits nothing after an abort",
    make: async () => subjectOf({}, (args, context) => repeat(args, { ...context, signal: new AbortController().signal })),
  },
  {
    defect: "hangs when it is aborted",
    promise: "ends within",
    make: async () =>
      subjectOf({}, async function* (args, context) {
        // Looks only once, at the very moment before the first output.
        await Promise.resolve();
        if (context.signal.aborted) await new Promise(() => {});
        yield* repeat(args, context);
      }),
  },
  {
    defect: "throws a string",
    promise: "fails with an error",
    make: async () =>
      subjectOf({}, async function* (args, context) {
        if (Number(args["times"]) < 0) throw "negative";
        yield* repeat(args, context);
      }),
  },
  {
    defect: "puts its key into an error",
    promise: "lets no secret",
    make: async () =>
      subjectOf({}, async function* (args, context) {
        if (Number(args["times"]) < 0) throw new AgentError("TOOL_FAILED", { message: `Refused with key ${secret}.` });
        yield* repeat(args, context);
      }),
  },
  {
    defect: "calls itself pure and counts its calls",
    promise: "is what its replay",
    make: async () => {
      let count = 0;
      return subjectOf({}, (args, context) => altered(repeat(args, context), { details: { count: count++ } }));
    },
  },
  {
    defect: "calls itself idempotent and fails the second time",
    promise: "is what its replay",
    make: async () =>
      subjectOf({ replay: "idempotent" }, async function* (args, context) {
        if (context.attempt > 1) throw new Error("It was done already.");
        yield* repeat(args, context);
      }),
  },
];

function makeSchema(): JsonObject {
  return subjectOf({}).tool.parameters as JsonObject;
}

function withExecute(subject: ToolSubject, execute: Execute): ToolSubject {
  return { ...subject, tool: { ...subject.tool, execute: (args, context) => execute(args as JsonObject, context) } };
}

async function* altered(
  events: AsyncIterable<ToolEvent>,
  change: Partial<Extract<ToolEvent, { type: "complete" }>>,
): AsyncGenerator<ToolEvent, void> {
  for await (const event of events) yield event.type === "complete" ? { ...event, ...change } : event;
}

/** All deltas as one output. */
async function* gathered(events: AsyncIterable<ToolEvent>): AsyncGenerator<ToolEvent, void> {
  let output = "";
  for await (const event of events) {
    if (event.type === "delta") output += event.delta;
    else yield { ...event, output };
  }
}
