import { Agent, type IncomingMessage, request } from "node:http";

/** Counts a word in a text that comes in pieces. */
export interface WordCount {
  readonly count: number;
  take(text: string): void;
}

export function createWordCount(word: string): WordCount {
  let count = 0;
  let tail = "";
  return {
    get count() {
      return count;
    },
    take(text) {
      const whole = tail + text;
      for (let at = whole.indexOf(word); at >= 0; at = whole.indexOf(word, at + word.length)) count++;
      // One character less than the word: what was counted is not counted again.
      tail = whole.slice(Math.max(0, whole.length - word.length + 1));
    },
  };
}

export interface RequestOptions {
  readonly agent: Agent;
  /** JSON of a POST; absent: a GET. */
  readonly body?: object;
  /** Beside those of the body. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A connection for every request that is open. */
export const openAgent = (): Agent => new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/** The answer, whose text is still to come. @throws Error when it is no success. */
export async function send(url: string, { agent, body, headers: more = {} }: RequestOptions): Promise<IncomingMessage> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const ofBody = text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const headers = { ...ofBody, ...more };
    const sent = request(url, { agent, method: text === undefined ? "GET" : "POST", headers }, resolve);
    sent.once("error", reject);
    sent.end(text);
  });
  answer.setEncoding("utf8");
  if ((answer.statusCode ?? 500) < 300) return answer;
  let complaint = "";
  for await (const piece of answer) complaint += piece;
  throw new Error(`${url} answered ${answer.statusCode}: ${complaint.slice(0, 500)}`);
}

/** The whole text of an answer. */
export async function textOf(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of answer) text += piece;
  return text;
}
