/*
 * Owns: the tokens of the parts of one session's requests, as its counter returns them. Loaded only if there is a counter.
 * Does not own: what is left out of a request (the context engine).
 * Invariants
 *  T1 the counter is called once for each message object, tool and schema, and once for a system prompt until it changes;
 *  T2 what is not counted is estimated: no request of a session fails because of the counter;
 *  T3 notices, and messages that were cut to fit, are always estimated, so that another process cuts the same.
 */
import type { Message } from "../message/message.ts";
import type { Clock } from "../ports/clock.ts";
import type { MessageSizes } from "../ports/context-engine.ts";
import type { ModelRequest } from "../ports/model-provider.ts";
import type { CountedPart, TokenCounter } from "../ports/token-counter.ts";
import { charactersPerToken, lengthOf } from "./message-length.ts";
import { systemText } from "./system-text.ts";

/** The parts of a request beside its messages. */
type Beside = Pick<ModelRequest, "system" | "tools" | "output">;

/** The parts that are counted. */
interface Counted extends Beside {
  readonly messages: readonly Message[];
  /** Messages that join the others when the request goes out. */
  readonly joining: readonly Message[];
}

/** A number, or the promise of a number. */
type Count = number | Promise<number>;

export interface CountingDeps {
  readonly clock: Clock;
  /** The longest wait for a count. */
  readonly waitMs: number;
  /** Called with the first error of the counter. */
  readonly report: (error: unknown) => void;
}

export class TokenCounts {
  readonly #counter: TokenCounter;
  readonly #deps: CountingDeps;
  readonly #models = new Map<string, CountsOfModel>();
  #hasFailed = false;

  constructor(counter: TokenCounter, deps: CountingDeps) {
    this.#counter = counter;
    this.#deps = deps;
  }

  /** Counts what is new in the request, and returns the sizes for this model. */
  async counted(model: string, request: Counted): Promise<MessageSizes> {
    const known = this.#models.get(model);
    const counts = known ?? new CountsOfModel((part) => this.#ask(model, part));
    if (!known) this.#models.set(model, counts);
    await counts.count(request);
    return counts;
  }

  #ask(model: string, part: CountedPart): Count {
    const estimate = Math.ceil((typeof part === "string" ? part.length : lengthOf(part)) / charactersPerToken);
    const failed = (error: unknown): number => {
      if (!this.#hasFailed) this.#deps.report(error);
      this.#hasFailed = true;
      return estimate;
    };
    const sound = (tokens: number): number =>
      Number.isFinite(tokens) && tokens >= 0 ? tokens : failed(new Error(`The token counter returned ${String(tokens)}.`));
    try {
      const count = this.#counter.count(model, part);
      return typeof count === "number" ? sound(count) : this.#inTime(count).then(sound, failed);
    } catch (error) {
      return failed(error);
    }
  }

  #inTime(count: Promise<number>): Promise<number> {
    const { clock, waitMs } = this.#deps;
    return new Promise((resolve, reject) => {
      const cancel = clock.after(waitMs, () => reject(new Error(`The token counter did not answer within ${waitMs} ms.`)));
      Promise.resolve(count).then(resolve, reject).finally(cancel);
    });
  }
}

class CountsOfModel implements MessageSizes {
  readonly #ask: (part: CountedPart) => Count;
  /** Messages, tools and schemas are the same objects from call to call; a message that was cut is another object. */
  readonly #known = new WeakMap<object, Count>();
  #system: { readonly text: string; tokens: Count } | undefined;
  #asked: { readonly messages: readonly Message[]; done: number } = { messages: [], done: 0 };
  #summed: { readonly messages: readonly Message[]; done: number; size: number } = { messages: [], done: 0, size: 0 };

  constructor(ask: (part: CountedPart) => Count) {
    this.#ask = ask;
  }

  async count({ messages, joining, system, tools = [], output }: Counted): Promise<void> {
    const pending: Promise<unknown>[] = [];
    const take = (key: object, part: () => CountedPart): void => {
      const known = this.#known.get(key) ?? this.#ask(part());
      this.#known.set(key, known);
      if (typeof known !== "number") pending.push(known.then((tokens) => this.#known.set(key, tokens)));
    };
    if (this.#asked.messages !== messages) this.#asked = { messages, done: 0 };
    for (const message of [...messages.slice(this.#asked.done), ...joining]) if (message.role !== "notice") take(message, () => message);
    this.#asked.done = messages.length;
    for (const tool of tools) take(tool, () => JSON.stringify(tool));
    if (output) take(output.schema, () => JSON.stringify(output.schema));
    const text = systemText(system) ?? "";
    if (this.#system?.text !== text) this.#system = { text, tokens: text === "" ? 0 : this.#ask(text) };
    const prompt = this.#system;
    pending.push(Promise.resolve(prompt.tokens).then((tokens) => (prompt.tokens = tokens)));
    await Promise.all(pending);
  }

  sizeOf(message: Message): number {
    return this.#sizeOf(message) ?? lengthOf(message);
  }

  sizeOfAll(messages: readonly Message[]): number {
    if (this.#summed.messages !== messages) this.#summed = { messages, done: 0, size: 0 };
    const sum = this.#summed;
    for (; sum.done < messages.length; sum.done++) sum.size += this.sizeOf(messages[sum.done] as Message);
    return sum.size;
  }

  sizeBeside({ tools = [], output }: Beside): number {
    const keys = [...tools, ...(output ? [output.schema] : [])];
    const tokens = this.#system?.tokens;
    return keys.reduce<number>(
      (sum, key) => sum + (this.#sizeOf(key) ?? 0),
      (typeof tokens === "number" ? tokens : 0) * charactersPerToken,
    );
  }

  #sizeOf(key: object): number | undefined {
    const tokens = this.#known.get(key);
    return typeof tokens === "number" ? tokens * charactersPerToken : undefined;
  }
}
