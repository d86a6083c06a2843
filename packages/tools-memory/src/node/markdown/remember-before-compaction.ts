import { type Message, textOf } from "@loopwright/core";
import type { ContextCall, ContextCompaction, ContextEngine, ContextPreparation, ContextPreparing } from "@loopwright/core/ports";
import type { MarkdownMemory, MemoryEntry } from "./markdown-memory.ts";

export interface RememberOptions {
  /** Tools whose results are kept with up to 5,000 characters in place of 2,000. Default: none. */
  readonly researchTools?: readonly string[];
  /** How long a compaction waits for the memory. Default 5,000. */
  readonly waitMs?: number;
}

const [resultCharacters, researchCharacters, answerCharacters] = [2_000, 5_000, 500];
const waitMsDefault = 5_000;

/**
 * The same engine; before a stretch of a conversation is compacted, the results of its tools and what the model answered are appended to the memory of the day. A memory
 * that fails or takes more than `waitMs` is logged, and the compaction happens all the same: the log of the session keeps the originals.
 */
export function rememberBeforeCompaction<Engine extends ContextEngine>(
  engine: Engine,
  memory: MarkdownMemory,
  options: RememberOptions = {},
): Engine {
  const open: ContextEngine["open"] = () => {
    const inner = engine.open();
    const kept = async (call: ContextCall, io: ContextPreparing, done: ContextPreparation & { readonly compaction: ContextCompaction }) => {
      const { waitMs = waitMsDefault } = options;
      await flush(memory, { call, io, waitMs, entries: entriesOf(call, done.compaction, new Set(options.researchTools)) });
      return done;
    };
    const after = (call: ContextCall, io: ContextPreparing, done: ContextPreparation | undefined) =>
      done?.compaction ? kept(call, io, { ...done, compaction: done.compaction }) : done;
    return {
      fit: (call) => inner.fit(call),
      prepare(call, io) {
        const done = inner.prepare?.(call, io);
        return done instanceof Promise ? done.then((settled) => after(call, io, settled)) : after(call, io, done);
      },
    };
  };
  return { ...engine, open };
}

interface Flush {
  readonly call: ContextCall;
  readonly io: ContextPreparing;
  readonly waitMs: number;
  readonly entries: readonly MemoryEntry[];
}

async function flush(memory: MarkdownMemory, { call, io, waitMs, entries }: Flush): Promise<void> {
  const { user, scope } = call.access;
  const late = AbortSignal.any([io.signal, AbortSignal.timeout(waitMs)]);
  const given = Promise.withResolvers<never>();
  late.addEventListener("abort", () => given.reject(late.reason), { once: true });
  try {
    late.throwIfAborted();
    await Promise.race([memory.append({ user, scope }, entries), given.promise]);
  } catch (error) {
    io.signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    io.logger.log("warn", "A conversation was compacted without being added to the memory of the day.", { reason });
  }
}

/** What the stretch has: a stretch that begins with an earlier summary begins where the history does. */
function entriesOf(
  { history, sessionId }: ContextCall,
  { from, to }: ContextCompaction,
  research: ReadonlySet<string>,
): readonly MemoryEntry[] {
  const [first, last] = [history.ids.indexOf(from), history.ids.indexOf(to)];
  return history.messages.slice(Math.max(0, first), last + 1).flatMap((message, place): readonly MemoryEntry[] => {
    const key = history.ids[Math.max(0, first) + place];
    const text = entryText(message, research);
    return key === undefined || text === "" ? [] : [{ text, sessionId, key }];
  });
}

function entryText(message: Message, research: ReadonlySet<string>): string {
  if (message.role === "assistant") return cut(textOf(message), answerCharacters);
  if (message.role !== "tool_result") return "";
  const isResearch = research.has(message.toolName ?? "");
  const text = cut(textOf(message), isResearch ? researchCharacters : resultCharacters);
  return text === "" ? "" : `${isResearch ? "[research] " : ""}${message.toolName ?? "a tool"}: ${text}`;
}

const cut = (text: string, most: number): string => (text.length <= most ? text.trim() : `${text.slice(0, most - 1).trim()}…`);
