import { type Fact, isAgentError } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { Connection } from "../connection/connection.ts";
import { damaged, historyLost } from "../connection/redis-fault.ts";
import { listOf, numberOf, textOf } from "../connection/reply.ts";
import type { StoreKeys } from "../keys.ts";
import { ofSession } from "../keys-of-wrong-type.ts";
import { chainOf, sumOf } from "./fact-chain.ts";
import type { Known, KnownLogs } from "./known-logs.ts";

/** A page starts small, for large facts, and grows while facts are small: about 1 MiB at once. */
const page = { first: 64, most: 2_000, bytes: 1024 * 1024 } as const;

/** Where a log ends, as Redis reports it. */
interface Tail {
  readonly seq: number;
  readonly chain: number;
  readonly isRemoved: boolean;
}

export interface FactRange {
  readonly from: number;
  readonly limit: number;
}

/** Reads logs in pages, and verifies every fact and the chain between them. */
export class FactReader {
  readonly #connection: Connection;
  readonly #keys: StoreKeys;
  readonly #memory: KnownLogs;

  constructor(parts: {
    readonly connection: Connection;
    readonly keys: StoreKeys;
    readonly memory: KnownLogs;
  }) {
    this.#connection = parts.connection;
    this.#keys = parts.keys;
    this.#memory = parts.memory;
  }

  /**
   * A log that is damaged at the second look too is marked: every later append is refused.
   * @throws AgentError SESSION_CORRUPT, HISTORY_LOST, STORE_*
   */
  async read(ref: SessionRef, range: FactRange): Promise<readonly Fact[]> {
    try {
      return await this.#read(ref, range);
    } catch (error) {
      if (isAgentError(error, "HISTORY_LOST")) throw error;
      if (!isAgentError(error, "SESSION_CORRUPT")) throw error;
    }
    try {
      // What is sound in the store may have been spoiled on the way.
      return await this.#read(ref, range);
    } catch (error) {
      if (!isAgentError(error, "SESSION_CORRUPT")) throw error;
      await this.#connection.ask(["HSET", this.#keys.session(ref).meta, "damaged", String(error.details?.["seq"] ?? 0)]);
      throw error;
    }
  }

  async #read(ref: SessionRef, { from, limit }: FactRange): Promise<readonly Fact[]> {
    const known = this.#memory.of(ref);
    let count = Math.min(page.first, limit);
    // The tail is asked for first: the log is at least as long when it is read.
    const asked = this.#tail(ref);
    let entries = this.#entries(ref, from, count);
    const tail = await first(asked, entries);
    if (tail.seq < known.seq && !tail.isRemoved) throw historyLost(ref.session, known.seq, tail.seq);
    const verifier = new Verifier({ ref, from, known, tail });
    const last = Math.min(tail.seq, from + limit - 1);
    for (;;) {
      const read = await entries;
      const bytes = verifier.take(read);
      if (verifier.next > last) break;
      if (read.length < count) return this.#ended(ref, verifier.next);
      const fitting = Math.floor((page.bytes * read.length) / Math.max(1, bytes));
      count = Math.min(last - verifier.next + 1, page.most, Math.max(1, fitting));
      entries = this.#entries(ref, verifier.next, count);
    }
    if (verifier.next > from) this.#memory.saw(ref, verifier.next - 1, verifier.chain);
    return verifier.facts;
  }

  /** A log that ends too early was removed meanwhile, or has lost its end. */
  async #ended(ref: SessionRef, seq: number): Promise<readonly Fact[]> {
    if ((await this.#tail(ref)).isRemoved) return [];
    throw damaged(ref.session, seq);
  }

  async #tail(ref: SessionRef): Promise<Tail> {
    const [seq, chain, removed] = listOf(
      await ofSession(ref, this.#connection.answer(["HMGET", this.#keys.session(ref).meta, "seq", "chain", "removed"])),
    );
    return { seq: numberOf(seq ?? 0), chain: numberOf(chain ?? 0), isRemoved: removed !== null };
  }

  async #entries(ref: SessionRef, from: number, count: number): Promise<readonly unknown[]> {
    if (count <= 0) return [];
    const words = ["XRANGE", this.#keys.session(ref).facts, `${from}-0`, "+", "COUNT", String(count)];
    return listOf(await ofSession(ref, this.#connection.answer(words)));
  }
}

/** The first; a second that fails alone meanwhile is not unheard of. */
function first<T>(one: Promise<T>, other: Promise<unknown>): Promise<T> {
  other.catch(() => {});
  return one;
}

/** Takes the entries of a log one after the other and checks that each is the next. */
class Verifier {
  readonly facts: Fact[] = [];
  readonly #options: { readonly ref: SessionRef; readonly from: number; readonly known: Known; readonly tail: Tail };
  next: number;
  chain = 0;

  constructor(options: { readonly ref: SessionRef; readonly from: number; readonly known: Known; readonly tail: Tail }) {
    this.#options = options;
    this.next = options.from;
  }

  /** About how many bytes they had. */
  take(entries: readonly unknown[]): number {
    let bytes = 0;
    for (const entry of entries) bytes += this.#one(listOf(entry));
    return bytes;
  }

  #one([id, fields]: readonly unknown[]): number {
    const { ref, from } = this.#options;
    const seq = this.next;
    const [, marks, , body] = listOf(fields);
    const [before, sum] = (textOf(marks) ?? "").split(" ", 2).map(Number);
    const text = textOf(body) ?? "";
    if (id !== `${seq}-0` || before === undefined || sum !== sumOf(ref, text)) throw damaged(ref.session, seq);
    // In the middle of a log the first fact brings the chain along.
    if ((seq > from || seq === 1) && before !== this.chain) throw damaged(ref.session, seq);
    this.#isSame(seq - 1, before);
    this.chain = chainOf(before, sum);
    this.#isSame(seq, this.chain);
    this.facts.push(factOf(ref, text, seq));
    this.next++;
    return text.length;
  }

  /** The chain up to a fact is what Redis keeps beside the log, and what this process has read of it before. */
  #isSame(seq: number, chain: number): void {
    const { ref, known, tail } = this.#options;
    if (seq === 0) return;
    if (seq === known.seq && chain !== known.chain) throw historyLost(ref.session, seq, seq);
    if (seq === tail.seq && chain !== tail.chain) throw damaged(ref.session, seq);
  }
}

function factOf({ session }: SessionRef, text: string, seq: number): Fact {
  let fact: Fact;
  try {
    fact = JSON.parse(text);
  } catch {
    throw damaged(session, seq);
  }
  if (fact.seq !== seq) throw damaged(session, seq);
  return fact;
}
