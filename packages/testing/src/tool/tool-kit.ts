import { findJsonFlaw, type JsonObject, type Tool, type ToolContext, type ToolEvent } from "@loopwright/core";
import { specOf, toolLimits } from "@loopwright/core/internals";
import { systemClock } from "@loopwright/core/memory";
import { expectSame, expectThat, type Kit } from "../kit/kit.ts";
import { runTool, type ToolTrial, type ToolTrialOptions } from "./run-tool.ts";

/** A tool and what to try it with. */
export interface ToolSubject {
  readonly tool: Tool;
  /** Arguments that it answers well: for a streaming tool such that it streams at least three deltas. */
  readonly args: JsonObject;
  /** Arguments that fit its schema and with which it fails. */
  readonly failingArgs?: JsonObject;
  readonly context?: Partial<ToolContext>;
  /** Texts that it knows and that no result, error or delta may hold. */
  readonly secrets?: readonly string[];
}

/** Gives a fresh subject at every call. */
export type MakeTool = () => Promise<ToolSubject>;

/** Turns of the event loop within which an aborted tool must have ended. */
const abortTicksMax = 200;

/** What every tool promises to a run. Capabilities: `streaming` (it streams deltas), `failing` (there are arguments with which it fails). */
export const toolKit: Kit<MakeTool> = [
  {
    promise: "has a name and a description that a model can be shown",
    async run(make) {
      const { tool } = await make();
      expectThat(/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name), `The name is ${JSON.stringify(tool.name)}.`);
      const { length } = tool.description.trim();
      expectThat(length >= 10 && length <= 1_024, `The description has ${length} characters, not 10 to 1,024.`);
    },
  },
  {
    promise: "has a schema that is the same after a journey through JSON",
    async run(make) {
      const { parameters } = specOf((await make()).tool);
      expectThat(findJsonFlaw(parameters) === undefined, `The schema is no JSON: ${findJsonFlaw(parameters)}.`);
      const strange = Object.keys(parameters).filter((key) => parameters[key] === undefined);
      expectThat(strange.length === 0, `The schema loses ${strange.join(", ")} in JSON.`);
    },
  },
  {
    promise: "answers well, also with arguments that came through JSON",
    async run(make) {
      const subject = await make();
      const { result, text } = await tryOut(subject, JSON.parse(JSON.stringify(subject.args)));
      expectThat(result.outcome === "ok", `The outcome is ${result.outcome}: ${text}`);
    },
  },
  {
    promise: "leaves its arguments as they were",
    async run(make) {
      const subject = await make();
      const before = JSON.parse(JSON.stringify(subject.args));
      await tryOut(subject, subject.args);
      expectSame(subject.args, before, "the arguments after the call");
    },
  },
  {
    promise: "gives details that are JSON",
    async run(make) {
      const subject = await make();
      const { warnings } = await tryOut(subject, subject.args);
      expectSame(
        warnings.filter((warning) => warning.includes("details")),
        [],
        "the warnings",
      );
    },
  },
  {
    promise: "keeps to its output limit by itself",
    async run(make) {
      const subject = await make();
      const { outputMax = toolLimits.outputMax } = subject.tool;
      const { text } = await tryOut(subject, subject.args);
      expectThat(!text.includes("[output cut: "), `The output had to be cut to ${outputMax} characters.`);
    },
  },
  {
    promise: "speaks before it completes",
    needs: ["streaming"],
    async run(make) {
      const subject = await make();
      const { deltas } = await tryOut(subject, subject.args);
      expectThat(deltas.length >= 3, `It sent ${deltas.length} deltas, not 3 or more.`);
    },
  },
  {
    promise: "emits nothing after its completion",
    needs: ["streaming"],
    async run(make) {
      const events = await eventsOf(await make());
      const completions = events.flatMap((event, at) => (event.type === "complete" ? [at] : []));
      expectThat(completions.length <= 1, `It completed ${completions.length} times.`);
      const late = events.length - 1 - (completions[0] ?? events.length - 1);
      expectThat(late === 0, `${late} events came after the completion.`);
    },
  },
  {
    promise: "emits nothing after an abort",
    needs: ["streaming"],
    async run(make) {
      const subject = await make();
      const controller = new AbortController();
      let late = 0;
      const onDelta = (): void => {
        if (controller.signal.aborted) late++;
        controller.abort();
      };
      await endOf(tryOut(subject, subject.args, { signal: controller.signal, onDelta }));
      expectThat(late === 0, `${late} deltas came after the abort.`);
    },
  },
  {
    promise: `ends within ${abortTicksMax} turns of the event loop after an abort`,
    async run(make) {
      const subject = await make();
      const controller = new AbortController();
      const trial = tryOut(subject, subject.args, { signal: controller.signal });
      controller.abort();
      expectThat((await endOf(trial)) !== undefined, `It had not ended after ${abortTicksMax} turns.`);
    },
  },
  {
    promise: "fails with an error in words",
    needs: ["failing"],
    async run(make) {
      const subject = await make();
      const thrown = await thrownBy(subject);
      expectThat(thrown.length > 0, "It did not fail with the arguments it should fail with.");
      const error = thrown[0];
      if (!(error instanceof Error)) throw new Error(`It threw ${error === null ? "null" : typeof error}, not an error.`);
      const { length } = error.message.trim();
      expectThat(length > 0 && length <= toolLimits.errorTextMax, `The message has ${length} characters.`);
    },
  },
  {
    promise: "lets no secret out",
    async run(make) {
      const subject = await make();
      const trials = [await tryOut(subject, subject.args)];
      if (subject.failingArgs) trials.push(await tryOut(subject, subject.failingArgs));
      const written = JSON.stringify(trials);
      const count = (subject.secrets ?? []).filter((secret) => written.includes(JSON.stringify(secret).slice(1, -1))).length;
      expectThat(count === 0, `${count} of its secrets can be read in what it states.`);
    },
  },
  {
    promise: "is what its replay class states: a pure tool gives the same twice, an idempotent one succeeds twice",
    async run(make) {
      const subject = await make();
      if ((subject.tool.replay ?? "once") === "once") return;
      const first = await tryOut(subject, subject.args);
      const second = await tryOut(subject, subject.args, { attempt: 2 });
      expectSame(second.result.outcome, first.result.outcome, "the outcome of the second attempt");
      if (subject.tool.replay === "pure") expectSame(second.result, first.result, "the result of the second attempt");
    },
  },
];

interface TrialSettings {
  readonly signal?: AbortSignal;
  readonly attempt?: number;
  readonly onDelta?: (delta: string) => void;
}

function tryOut(subject: ToolSubject, args: JsonObject, settings: TrialSettings = {}): Promise<ToolTrial> {
  const { onDelta, ...context } = settings;
  const options: ToolTrialOptions = { context: { ...subject.context, ...context }, ...(onDelta ? { onDelta } : {}) };
  return runTool(subject.tool, args, options);
}

/** What the promise gives, or `undefined` when it takes too many turns. */
async function endOf(trial: Promise<ToolTrial>): Promise<ToolTrial | undefined> {
  let ended: ToolTrial | undefined;
  void trial.then((value) => {
    ended = value;
  });
  for (let tick = 0; tick < abortTicksMax && !ended; tick++) await new Promise<void>((resolve) => systemClock.after(0, resolve));
  return ended;
}

/** The tool with its `execute` watched: what a run never sees, because it is made a result. */
function watched(
  subject: ToolSubject,
  watch: { readonly event?: (event: ToolEvent) => void; readonly thrown?: (error: unknown) => void },
): ToolSubject {
  const { tool } = subject;
  async function* execute(args: unknown, context: ToolContext): AsyncGenerator<ToolEvent, void> {
    try {
      const returned: unknown = await tool.execute?.(args, context);
      if (typeof returned !== "object" || returned === null || !(Symbol.asyncIterator in returned)) return;
      for await (const event of returned as AsyncIterable<ToolEvent>) {
        watch.event?.(event);
        yield event;
      }
    } catch (error) {
      watch.thrown?.(error);
      throw error;
    }
  }
  return { ...subject, tool: { ...tool, execute } };
}

async function eventsOf(subject: ToolSubject): Promise<readonly ToolEvent[]> {
  const events: ToolEvent[] = [];
  const { args } = subject;
  await tryOut(watched(subject, { event: (event) => events.push(event) }), args);
  return events;
}

async function thrownBy(subject: ToolSubject): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  await tryOut(watched(subject, { thrown: (error) => errors.push(error) }), subject.failingArgs ?? {});
  return errors;
}
