/** What one message asks of the agent; it travels as the text of the message, so that the model needs no memory of its own. */
export interface Job {
  readonly id: string;
  /** Answers one after another; the last one calls nothing. */
  readonly turns: readonly Turn[];
  /** The model refuses it as if the key were wrong, and repeats the key in its answer. */
  readonly isRefused?: boolean;
  /** The model sends the call on to another server, with this status. */
  readonly redirect?: 301 | 302 | 303 | 307 | 308;
  /** Makes the message long. */
  readonly ballast?: string;
}

export interface Turn {
  /** Words of the answer. */
  readonly words: number;
  /** Time between two of them, in milliseconds. */
  readonly gapMs: number;
  readonly calls?: readonly JobCall[];
}

/** One of each class, one that a person must allow, and one that a person answers. */
export type ToolName = "pay" | "book" | "read" | "sign" | "ask";

/** The agents below: one that has another one below it, that one, and one that works in the background. */
export type AgentName = "middle" | "bottom" | "aside";

export interface JobCall {
  readonly tool: ToolName | AgentName;
  /** How long it takes. */
  readonly ms: number;
  /** What an agent is given to do. */
  readonly task?: Job;
}

const prefix = "Please do ";

export function textOfJob(job: Job): string {
  return prefix + JSON.stringify(job);
}

/** The job of a message; `undefined` where it is none. */
export function jobOfText(text: string): Job | undefined {
  return text.startsWith(prefix) ? (JSON.parse(text.slice(prefix.length)) as Job) : undefined;
}

const vocabulary = [
  "alder",
  "birch",
  "cedar",
  "dune",
  "ember",
  "fjord",
  "grove",
  "heath",
  "inlet",
  "juniper",
  "käfer",
  "lagoon",
  "мост",
  "🌊",
];

/** The words of the model in one turn: always the same, so that half an answer, or a mixture of two, is seen. */
export function wordsOf(job: Job, turn: number): readonly string[] {
  const words: string[] = [`${job.id}.${turn}`];
  let state = turn + 1;
  for (const character of job.id) state = (Math.imul(state, 31) + character.charCodeAt(0)) >>> 0;
  for (let count = 0; count < (job.turns[turn]?.words ?? 0); count++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    words.push(` ${vocabulary[state % vocabulary.length]}`);
  }
  return words;
}

/** The text of the whole job, answer by answer. */
export function answersOf(job: Job): readonly string[] {
  return job.turns.map((_, turn) => wordsOf(job, turn).join(""));
}
