/*
 * Owns: what one person does in one session: says things, waits for the answer, answers questions, sometimes stops it. Remembers every yes of the servers.
 * Does not own: what was right about it (check).
 */
import type { DurableEvent } from "@loopwright/core/protocol";
import { type Job, textOfJob } from "./job.ts";
import { post } from "./post.ts";
import { type JobTaste, randomJob } from "./random-job.ts";
import type { Watcher } from "./watcher.ts";

/** Something that a server said yes to. */
export interface Acknowledged {
  readonly what: "input" | "answer" | "abort";
  readonly key: string;
  readonly job?: Job;
  readonly seq?: number;
  readonly callKeys?: readonly string[];
}

export interface PersonOptions {
  readonly sessionId: string;
  readonly pick: () => string;
  readonly random: () => number;
  readonly watcher: Watcher;
  readonly taste: JobTaste & { readonly abortShare?: number; readonly steerShare?: number; readonly interruptShare?: number };
}

export interface Person {
  readonly acknowledged: readonly Acknowledged[];
  /** What no server could have been right to say. */
  readonly surprises: readonly string[];
  /** Finishes what it is saying, and says nothing new; questions are answered still. */
  fallSilent(): Promise<void>;
  /** Answers no more either. */
  leave(): Promise<void>;
}

export function startPerson({ sessionId, pick, random, watcher, taste }: PersonOptions): Person {
  const acknowledged: Acknowledged[] = [];
  const surprises: string[] = [];
  let isOver = false;
  let isGone = false;
  let count = 0;
  let read = 0;
  const path = `/api/sessions/${sessionId}`;

  const answer = async (event: Extract<DurableEvent, { readonly type: "awaiting_tool_execution" }>): Promise<void> => {
    const results = event.toolCalls.map((call) => ({
      role: "tool_result",
      toolCallId: call.toolCallId,
      callKey: call.callKey,
      content: `said ${call.callKey}`,
    }));
    const key = `answer-${event.seq}`;
    const said = await post({ pick, path: `${path}/tool-results`, body: { results }, key });
    if (said && said.status < 300) acknowledged.push({ what: "answer", key, callKeys: event.toolCalls.map(({ callKey }) => callKey) });
    // The run may have been stopped meanwhile.
    else if (said && said.status !== 404 && said.status !== 409)
      surprises.push(`tool results: ${said.status} ${JSON.stringify(said.body).slice(0, 200)}`);
  };

  const answering = (async () => {
    for (;;) {
      const { durable } = watcher.recording;
      for (; read < durable.length; read++) {
        const event = durable[read];
        if (event?.type === "awaiting_tool_execution") await answer(event);
      }
      if (isGone) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();

  const isDone = (runId: string): boolean => watcher.recording.durable.some((event) => event.type === "run_end" && event.runId === runId);

  const say = async (): Promise<void> => {
    const job = randomJob(`${sessionId}x${++count}`, random, taste);
    const dice = random();
    const { abortShare = 0, steerShare = 0, interruptShare = 0 } = taste;
    const mode = dice < steerShare ? "steer" : dice < steerShare + interruptShare ? "interrupt" : "enqueue";
    const key = `say-${job.id}`;
    const said = await post({ pick, path: `${path}/messages`, body: { message: textOfJob(job), mode }, key });
    if (!said) return;
    if (said.status !== 202 && said.status !== 200)
      return void surprises.push(`message: ${said.status} ${JSON.stringify(said.body).slice(0, 200)}`);
    acknowledged.push({ what: "input", key, job, seq: Number(said.body["seq"]) });
    if (random() < abortShare) {
      await new Promise((resolve) => setTimeout(resolve, random() * 100));
      await post({ pick, path: `${path}/abort`, body: {}, key: `abort-${job.id}` });
      return;
    }
    // Now and then the next thing is said before the answer is there.
    if (random() < 0.2) return;
    const patience = performance.now() + 30_000;
    while (!isDone(String(said.body["runId"])) && performance.now() < patience && !isOver)
      await new Promise((resolve) => setTimeout(resolve, 15));
  };

  const talking = (async () => {
    while (!isOver) await say();
  })();

  return {
    acknowledged,
    surprises,
    async fallSilent() {
      isOver = true;
      await talking;
    },
    async leave() {
      isGone = true;
      await answering;
    },
  };
}
