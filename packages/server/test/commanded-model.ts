import { AgentError, type ModelChunk } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";

/** A model that emits what the test reports it to, when it does. */
export interface CommandedModel {
  readonly provider: ModelProvider;
  /** Calls that have begun. */
  readonly calls: number;
  /** Calls that were aborted. */
  readonly aborted: number;
  /** One delta. */
  say(delta: string): void;
  /** `id`: as the vendor names it. */
  call(name: string, args: object, id?: string): void;
  /** Ends the answer. */
  end(): void;
  fail(): void;
}

export function commandedModel(): CommandedModel {
  const notified: (readonly ModelChunk[] | "fail")[] = [];
  let wake = (): void => {};
  let calls = 0;
  let aborted = 0;
  let index = 0;
  let callCount = 0;
  const notify = (chunks: readonly ModelChunk[] | "fail"): void => {
    notified.push(chunks);
    wake();
  };
  return {
    provider: {
      name: "told",
      defaultModel: "told-1",
      capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
      async *stream(_, { signal }) {
        calls += 1;
        index = 0;
        const onAbort = (): void => {
          aborted += 1;
          wake();
        };
        signal.addEventListener("abort", onAbort, { once: true });
        while (!signal.aborted) {
          const next = notified.shift();
          if (next === "fail") throw new AgentError("MODEL_REFUSED", { message: "The model was told to fail." });
          if (next) {
            yield next;
            if (next.some(({ type }) => type === "end")) return void signal.removeEventListener("abort", onAbort);
            continue;
          }
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        signal.throwIfAborted();
      },
    },
    get calls() {
      return calls;
    },
    get aborted() {
      return aborted;
    },
    say: (delta) => notify([{ type: "text", index, delta }]),
    call(name, args, id = `call_${callCount + 1}`) {
      index += 1;
      callCount += 1;
      notify([
        { type: "call-start", index, id, name },
        { type: "call-args", index, delta: JSON.stringify(args) },
        { type: "call-end", index },
      ]);
    },
    end() {
      const stopReason = index > 0 ? "tool_calls" : "stop";
      notify([{ type: "end", stopReason, raw: stopReason }]);
    },
    fail: () => notify("fail"),
  };
}
