import { isAgentError } from "@loopwright/core";
import { expectSame, expectThat } from "@loopwright/testing";
import { callWith, type FaultContext } from "./fault-call.ts";
import { isStreamed, type Recording, type ReplayedRequest } from "./recording.ts";
import { truthDifferences } from "./truth-differences.ts";

/** One fault of the wire and what must become of it. */
export interface FaultCase {
  /** A sentence that is true when the case passes. */
  readonly title: string;
  readonly run: (context: FaultContext) => Promise<void>;
}

/** How long the server may take to see that the client has gone. */
const goneWithinMs = 5_000;

/** Failing statuses for every recording; garbage, error events and silence in mid-answer for streamed ones. */
export function failureCases(recording: Recording): readonly FaultCase[] {
  return isStreamed(recording) ? [...statusCases, ...streamCases] : statusCases;
}

const statusCases: readonly FaultCase[] = [
  {
    title: "F4: answers a 429 with MODEL_RATE_LIMITED and the wait that the vendor asked for, and the next call succeeds",
    async run(context) {
      const once = {
        fault: "fail:429:1",
        "retry-after": 7,
        session: `limited-${context.recording.id}-${context.options.providers.join("-")}`,
      };
      const error = await rejection(callWith(context, once));
      expectSame([codeOf(error), retryOf(error)], ["MODEL_RATE_LIMITED", [true, 7_000]], "the error");
      const { answer } = await callWith(context, once);
      expectSame(truthDifferences(answer, context.recording), [], "differences of the second call");
    },
  },
  ...[500, 503, 529].map((status) => ({
    title: `F4: answers a ${status} with MODEL_OVERLOADED, which is retryable, after one request`,
    async run(context: FaultContext) {
      const before = context.replay.requests.length;
      const error = await rejection(callWith(context, { fault: `status:${status}` }));
      expectSame([codeOf(error), retryOf(error)[0]], ["MODEL_OVERLOADED", true], "the error");
      expectSame(context.replay.requests.length - before, 1, "requests");
    },
  })),
  {
    title: "F5: answers the page of a proxy with MODEL_OVERLOADED",
    async run(context) {
      const error = await rejection(callWith(context, { fault: "html:502" }));
      expectSame([codeOf(error), retryOf(error)[0]], ["MODEL_OVERLOADED", true], "the error");
    },
  },
  {
    title: "F9: answers a connection that dies before the headers with a retryable error",
    async run(context) {
      const error = await rejection(callWith(context, { fault: "drop:1", session: `drop-${context.recording.id}` }));
      expectThat(["MODEL_UNREACHABLE", "MODEL_STREAM_BROKEN"].includes(codeOf(error)), `the error was ${codeOf(error)}`);
      expectSame(retryOf(error)[0], true, "retryable");
    },
  },
  {
    title: "ends with the signal's reason when it is aborted before the headers, and hangs up",
    async run(context) {
      const abort = new AbortController();
      const reason = new Error("the person went away");
      const seen = context.replay.requests.length;
      const call = rejection(callWith(context, { fault: "hang" }, abort.signal));
      await soon(() => context.replay.requests.length > seen, "the request arrives");
      abort.abort(reason);
      expectIsAbort(await call, reason);
    },
  },
];

const streamCases: readonly FaultCase[] = [
  ...["garbage:0", "garbage:1"].map((fault) => ({
    title: `F5: answers an event of broken JSON (${fault}) with an error`,
    async run(context: FaultContext) {
      const code = codeOf(await rejection(callWith(context, { fault })));
      expectThat(["MODEL_PROTOCOL", "MODEL_STREAM_BROKEN"].includes(code), `the error was ${code}`);
    },
  })),
  ...["error-event:0", "error-event:1"].map((fault) => ({
    title: `F5: answers the vendor's error event in a stream (${fault}) with the vendor's error`,
    async run(context: FaultContext) {
      const error = await rejection(callWith(context, { fault }));
      expectSame([codeOf(error), retryOf(error)[0]], ["MODEL_OVERLOADED", true], "the error");
    },
  })),
  {
    title: "ends with the signal's reason when it is aborted in a stream that has fallen silent, and hangs up",
    async run(context) {
      const abort = new AbortController();
      const reason = new Error("the person went away");
      const mine = context.replay.requests.length;
      const request = (): ReplayedRequest | undefined => context.replay.requests[mine];
      const call = rejection(callWith(context, { stall: "e1:inf" }, abort.signal));
      await soon(() => (request()?.bytesSent ?? 0) > 0, "the first bytes are sent");
      abort.abort(reason);
      expectIsAbort(await call, reason);
      await soon(() => request()?.clientClosedAt !== undefined, "the server sees the client go");
    },
  },
];

async function rejection(call: Promise<unknown>): Promise<unknown> {
  const outcome = await call.then(
    () => ({ rejected: false, error: undefined }),
    (error: unknown) => ({ rejected: true, error }),
  );
  expectThat(outcome.rejected, "the call succeeded");
  return outcome.error;
}

function codeOf(error: unknown): string {
  return isAgentError(error) ? error.code : `no AgentError: ${String(error)}`;
}

function retryOf(error: unknown): readonly [boolean | undefined, number | undefined] {
  return isAgentError(error) ? [error.retryable, error.retryAfterMs] : [undefined, undefined];
}

function expectIsAbort(error: unknown, reason: unknown): void {
  expectThat(error === reason || isAgentError(error), `expected the signal's reason or an AgentError, got ${String(error)}`);
}

/** Looks again after every turn of the event loop: what is waited for happens in this process. */
async function soon(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + goneWithinMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`Not within ${goneWithinMs} ms: ${what}.`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
