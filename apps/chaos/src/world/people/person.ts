/*
 * Owns: what one person does in one session: sends messages, waits for the answer, answers questions, decides on calls, sometimes stops it.
 * Records every acknowledgement of the servers.
 * Does not own: what was right about it (check).
 */

import { type Job, textOfJob } from "../job.ts";
import type { Acknowledged } from "./acknowledged.ts";
import { post } from "./post.ts";
import { type JobProfile, randomJob } from "./random-job.ts";
import { createReplies } from "./replies.ts";
import { stopRun } from "./stop-run.ts";
import type { Watcher } from "./watcher.ts";

export interface PersonOptions {
  readonly sessionId: string;
  readonly pick: () => string;
  readonly random: () => number;
  readonly watcher: Watcher;
  /** The person's name. */
  readonly headers?: { readonly [name: string]: string };
  /** Stands in every message. */
  readonly word?: string;
  /** Gets the answers of servers. */
  readonly receive?: (text: string) => void;
  readonly jobProfile: JobProfile & { readonly abortShare?: number; readonly steerShare?: number; readonly interruptShare?: number };
}

export interface Person {
  readonly acknowledged: readonly Acknowledged[];
  /** Answers that no correct server gives. */
  readonly surprises: readonly string[];
  /** Requests so far whose key no log has a place for. */
  readonly keyed: number;
  /** Finishes the message under way, and sends nothing new; questions are answered still. */
  fallSilent(): Promise<void>;
  /** Answers no more either. */
  leave(): Promise<void>;
}

/** Messages of one person that wait for their answers: on a slow machine more of them would only make a queue that no node has caused. */
const unansweredMax = 4;

/** How many of these runs have no answer yet; the others are forgotten. */
function waitingIn(unanswered: Set<string>, isDone: (runId: string) => boolean): number {
  for (const runId of unanswered) if (isDone(runId)) unanswered.delete(runId);
  return unanswered.size;
}

export function startPerson({ sessionId, pick, random, watcher, jobProfile, headers = {}, word = "word", receive }: PersonOptions): Person {
  const acknowledged: Acknowledged[] = [];
  const surprises: string[] = [];
  let isOver = false;
  let isGone = false;
  let count = 0;
  let read = 0;
  let keyed = 1;
  const path = `/api/sessions/${sessionId}`;

  const who = { pick, headers, receive };
  const reply = createReplies({ ...who, path, random, acknowledged, surprises });

  const stop = async (job: Job, runId: string): Promise<void> => {
    keyed += 1;
    await stopRun({ ...who, path, random, acknowledged, surprises }, { key: `abort-${job.id}`, runId });
  };

  const answering = (async () => {
    for (;;) {
      const { durable } = watcher.recording;
      for (; read < durable.length; read++) {
        const event = durable[read];
        if (event?.type === "awaiting_tool_execution") keyed += 1;
        if (event) await reply(event);
      }
      if (isGone) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();

  const isDone = (runId: string): boolean => watcher.recording.durable.some((event) => event.type === "run_end" && event.runId === runId);

  const unanswered = new Set<string>();

  const say = async (): Promise<void> => {
    const job = randomJob(`${word}-${sessionId}x${++count}`, random, jobProfile);
    const dice = random();
    const { abortShare = 0, steerShare = 0, interruptShare = 0 } = jobProfile;
    const mode = dice < steerShare ? "steer" : dice < steerShare + interruptShare ? "interrupt" : "enqueue";
    const key = `say-${job.id}`;
    const written = await post({ path: `${path}/messages`, body: { message: textOfJob(job), mode }, key, ...who });
    if (!written) return;
    if (written.status !== 202 && written.status !== 200)
      return void surprises.push(`message: ${written.status} ${JSON.stringify(written.body).slice(0, 200)}`);
    acknowledged.push({ what: "input", key, job, seq: Number(written.body["seq"]) });
    unanswered.add(String(written.body["runId"]));
    if (random() < abortShare) {
      await new Promise((resolve) => setTimeout(resolve, random() * 100));
      await stop(job, String(written.body["runId"]));
      return;
    }
    // Now and then the next message is sent before the answer is there.
    if (random() < 0.2) return;
    const patience = performance.now() + 30_000;
    while (!isDone(String(written.body["runId"])) && performance.now() < patience && !isOver)
      await new Promise((resolve) => setTimeout(resolve, 15));
  };

  const talking = (async () => {
    while (!isOver) await (waitingIn(unanswered, isDone) < unansweredMax ? say() : new Promise((resolve) => setTimeout(resolve, 15)));
  })();

  return {
    acknowledged,
    surprises,
    get keyed() {
      return keyed;
    },
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
