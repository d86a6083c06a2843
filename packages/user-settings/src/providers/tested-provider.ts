import { AgentError, type ErrorCode, failureOf, isAgentError, type ModelRef } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";

/** How a test call ended. */
export type TestResult =
  | { readonly ok: true; readonly model: string; readonly totalMs: number }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string; readonly fix: string; readonly totalMs: number };

const deadlineMs = 20_000;
/** Vendors refuse less of some models. */
const maxTokens = 16;

interface Tested {
  readonly ref: ModelRef;
  readonly key: string;
}

/** One call of a few tokens, without retries. What refuses it is the result. */
export async function testedProvider(
  make: () => Promise<Tested>,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
): Promise<TestResult> {
  const began = clock.monotonic();
  const late = new AbortController();
  const cancel = clock.after(deadlineMs, () =>
    late.abort(new AgentError("MODEL_TIMEOUT", { message: `The model did not answer within ${deadlineMs} ms.` })),
  );
  const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  let key = "";
  const spent = (): number => Math.round(clock.monotonic() - began);
  try {
    const tested = await make();
    key = tested.key;
    const { provider, model } = tested.ref;
    const request = { model, messages: [{ role: "user" as const, content: "Answer with the word ok." }], maxTokens };
    for await (const _ of provider.stream(request, { signal: either, attempt: 1 }));
    return { ok: true, model, totalMs: spent() };
  } catch (error) {
    const { code, message } = failureOf(error);
    const fix = isAgentError(error) ? error.fix : "Ask the operator: the log of the server has the cause.";
    // Providers take the key out of their errors. A user's server may send anything.
    const safe = (text: string): string => (key === "" ? text : text.replaceAll(key, "[key]"));
    return { ok: false, code, message: safe(message), fix: safe(fix), totalMs: spent() };
  } finally {
    cancel();
    late.abort();
  }
}
