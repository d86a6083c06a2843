import { AgentError, type PendingToolCall, type ToolResultMessage } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import type { PageTool } from "./page-tool.ts";
import { pickColor } from "./pick-color.ts";
import { createToolRunner, type ToolRunner, type ToolRunnerOptions } from "./tool-runner.ts";

const call = (toolName: string, index = 0): PendingToolCall => ({ toolCallId: `c${index}`, callKey: `r.1.${index}`, toolName, args: {} });

const echo: PageTool = {
  declared: { name: "echo", description: "", parameters: {} },
  asksPerson: false,
  run: () => "here",
};

interface Scene {
  readonly runner: ToolRunner;
  readonly answers: ToolResultMessage[];
  readonly failures: unknown[];
  /** Resolves at the next answer or failure. */
  next(): Promise<void>;
}

function scene(options: Partial<ToolRunnerOptions> = {}): Scene {
  const answers: ToolResultMessage[] = [];
  const failures: unknown[] = [];
  let moved = Promise.withResolvers<void>();
  const move = (): void => {
    moved.resolve();
    moved = Promise.withResolvers();
  };
  const runner = createToolRunner({
    tools: [echo, pickColor],
    pickColour: async () => "#ABCDEF",
    answer: async (results) => {
      answers.push(...results);
      move();
    },
    fail: (error) => {
      failures.push(error);
      move();
    },
    alone: (_, act) => act(),
    ...options,
  });
  return { runner, answers, failures, next: () => moved.promise };
}

it("a call that waits for the page is run once and answered, others are left alone", async () => {
  const { runner, answers, next } = scene();
  const answered = next();
  runner.offer([call("echo"), call("somebody_elses", 1)]);
  runner.offer([call("echo"), call("somebody_elses", 1)]);
  await answered;
  runner.offer([call("echo")]);
  expect(answers).toEqual([{ role: "tool_result", toolCallId: "c0", callKey: "r.1.0", toolName: "echo", content: "here" }]);
});

it("a colour that a person picks is the answer, and a closed dialog is an error the model can read", async () => {
  const picked = scene();
  let moved = picked.next();
  picked.runner.offer([call("pick_color")]);
  await moved;
  expect(picked.answers[0]?.content).toBe('{"color":"#abcdef"}');
  const closed = scene({ pickColour: async () => undefined });
  moved = closed.next();
  closed.runner.offer([call("pick_color")]);
  await moved;
  expect(closed.answers[0]).toMatchObject({ isError: true, content: "The person closed the dialog without picking a colour." });
});

it("a call that was answered elsewhere closes its dialog and sends nothing", async () => {
  const gone = Promise.withResolvers<void>();
  const { runner, answers } = scene({
    pickColour: (_, signal) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          resolve("#000000");
          gone.resolve();
        }),
      ),
  });
  runner.offer([call("pick_color")]);
  runner.offer([]);
  await gone.promise;
  await Promise.resolve();
  expect(answers).toEqual([]);
});

it("an answer that came too late is no error, one that could not be sent is tried again", async () => {
  const late = scene({ answer: () => Promise.reject(new AgentError("CALL_ANSWERED", { message: "too late" })) });
  late.runner.offer([call("echo")]);
  let tries = 0;
  const lost = scene({
    answer: async () => {
      tries += 1;
      if (tries === 1) throw new AgentError("SERVER_UNREACHABLE", { message: "gone" });
    },
  });
  const failed = lost.next();
  lost.runner.offer([call("echo")]);
  await failed;
  expect(late.failures).toEqual([]);
  expect(lost.failures).toHaveLength(1);
  await new Promise<void>((resolve) => queueMicrotask(resolve));
  lost.runner.offer([call("echo")]);
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(tries).toBe(2);
});
