/*
 * Owns: what one person does in one session: says things, waits for the answer, answers questions, decides on calls, sometimes stops it.
 * Remembers every yes of the servers.
 * Does not own: what was right about it (check).
 */
import { type Job, textOfJob } from "./job.ts";
import { post } from "./post.ts";
import { type JobTaste, randomJob } from "./random-job.ts";
import { createReplies } from "./replies.ts";
import type { Watcher } from "./watcher.ts";

/** Something that a server said yes to. */
export interface Acknowledged {
  readonly what: "input" | "answer" | "abort" | "decision";
  readonly key: string;
  readonly job?: Job;
  readonly seq?: number;
  readonly callKeys?: readonly string[];
  /** Of an abort. */
  readonly runId?: string;
  readonly decision?: "allow" | "deny";
}

export interface PersonOptions {
  readonly sessionId: string;
  readonly pick: () => string;
  readonly random: () => number;
  readonly watcher: Watcher;
  /** Who it is. */
  readonly headers?: { readonly [name: string]: string };
  /** Stands in everything that is said. */
  readonly word?: string;
  /** Is told what servers answer. */
  readonly hear?: (text: string) => void;
  readonly taste: JobTaste & { readonly abortShare?: number; readonly steerShare?: number; readonly interruptShare?: number };
}

export interface Person {
  readonly acknowledged: readonly Acknowledged[];
  /** What no server could have been right to say. */
  readonly surprises: readonly string[];
  /** Requests so far whose key no log has a place for. */
  readonly keyed: number;
  /** Finishes what it is saying, and says nothing new; questions are answered still. */
  fallSilent(): Promise<void>;
  /** Answers no more either. */
  leave(): Promise<void>;
}

export function startPerson({ sessionId, pick, random, watcher, taste, headers = {}, word = "word", hear }: PersonOptions): Person {
  const acknowledged: Acknowledged[] = [];
  const surprises: string[] = [];
  let isOver = false;
  let isGone = false;
  let count = 0;
  let read = 0;
  let keyed = 1;
  const path = `/api/sessions/${sessionId}`;

  const who = { pick, headers, hear };
  const reply = createReplies({ ...who, path, random, acknowledged, surprises });

  /** Asks for the end of a run by its name, or of whichever is open. */
  const stop = async (job: Job, runId: string): Promise<void> => {
    const key = `abort-${job.id}`;
    const named = random() < 0.7 ? { runId } : {};
    keyed += 1;
    const said = await post({ ...who, path: `${path}/abort`, body: { reason: key, ...named }, key });
    if (said && said.status !== 202) surprises.push(`abort: ${said.status} ${JSON.stringify(said.body).slice(0, 200)}`);
    // A yes to a second try may mean a run that another abort has stopped: which one, nobody knows who did not name it.
    else if (said?.body["aborting"] === true && (said.tries === 1 || "runId" in named)) acknowledged.push({ what: "abort", key, ...named });
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

  const say = async (): Promise<void> => {
    const job = randomJob(`${word}-${sessionId}x${++count}`, random, taste);
    const dice = random();
    const { abortShare = 0, steerShare = 0, interruptShare = 0 } = taste;
    const mode = dice < steerShare ? "steer" : dice < steerShare + interruptShare ? "interrupt" : "enqueue";
    const key = `say-${job.id}`;
    const said = await post({ path: `${path}/messages`, body: { message: textOfJob(job), mode }, key, ...who });
    if (!said) return;
    if (said.status !== 202 && said.status !== 200)
      return void surprises.push(`message: ${said.status} ${JSON.stringify(said.body).slice(0, 200)}`);
    acknowledged.push({ what: "input", key, job, seq: Number(said.body["seq"]) });
    if (random() < abortShare) {
      await new Promise((resolve) => setTimeout(resolve, random() * 100));
      await stop(job, String(said.body["runId"]));
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
