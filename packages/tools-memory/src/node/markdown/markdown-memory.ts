import { createHash } from "node:crypto";
import { AgentError } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock, Embedder } from "@loopwright/core/ports";
import type { MemoryOwner } from "../../memory-store.ts";
import { appendToMemoryFile, folderOf, memoryFileNames, readMemoryFile } from "./memory-files.ts";
import {
  decayOf,
  joinedScore,
  likeness,
  type MemoryPassage,
  passageLimits,
  passagesOfFile,
  type RankedPassage,
  wordScores,
} from "./rank-passages.ts";

export interface MarkdownMemoryOptions {
  /** Holds a folder for each scope and user: `MEMORY.md`, which people curate, and a file for each day. It is made where it is missing. */
  readonly folder: string;
  /** Finds passages by meaning beside their words. Default: words alone. */
  readonly embedder?: Embedder;
  readonly clock?: Pick<Clock, "now">;
}

/** An entry of a daily file. */
export interface MemoryEntry {
  readonly text: string;
  readonly sessionId: string;
  /** An entry of the same key on the same day is written once. */
  readonly key: string;
}

/** Long-term memory in Markdown files. */
export interface MarkdownMemory {
  /** The passages that fit the query, best first: by words, and by meaning where there is an embedder; older days count less. @throws AgentError STORE_*, MODEL_* */
  search(
    owner: MemoryOwner,
    query: string,
    options: { readonly signal: AbortSignal; readonly countMax?: number },
  ): Promise<readonly RankedPassage[]>;
  /** The text of `MEMORY.md` or of a day such as `2027-03-01.md`; `undefined`: there is none. @throws AgentError TOOL_ARGUMENTS, STORE_* */
  read(owner: MemoryOwner, file: string): Promise<string | undefined>;
  /** Appends to the file of today. @throws AgentError STORE_* */
  append(owner: MemoryOwner, entries: readonly MemoryEntry[]): Promise<void>;
}

const countMaxDefault = 10;
/** Vectors that a process keeps, so that a passage is embedded once. */
const vectorsMax = 10_000;

/** Only its owner's passages are ever found. Several processes may share the folder. */
export function markdownMemory({ folder: root, embedder, clock = systemClock }: MarkdownMemoryOptions): MarkdownMemory {
  const vectors = new Map<string, readonly number[]>();
  const appending = new Map<string, Promise<void>>();
  const folder = (owner: MemoryOwner): string => folderOf(root, owner);

  async function passagesOf(owner: MemoryOwner): Promise<readonly MemoryPassage[]> {
    const passages: MemoryPassage[] = [];
    for (const name of await memoryFileNames(folder(owner))) {
      if (passages.length >= passageLimits.passagesMax) break;
      passages.push(...passagesOfFile(name, (await readMemoryFile(folder(owner), name)) ?? ""));
    }
    return passages.slice(0, passageLimits.passagesMax);
  }

  async function meanings(texts: readonly string[], query: string, signal: AbortSignal): Promise<readonly (number | undefined)[]> {
    if (!embedder) return texts.map(() => undefined);
    const keys = texts.map(keyOf);
    const all = new Map(keys.map((key, place) => [key, texts[place] ?? ""]));
    if (vectors.size + all.size > vectorsMax) vectors.clear();
    const fresh = [...all].filter(([key]) => !vectors.has(key));
    const made = await embedder.embed({ texts: fresh.map(([, text]) => text), purpose: "passage" }, { signal });
    for (const [place, [key]] of fresh.entries()) vectors.set(key, made.vectors[place] ?? []);
    const [wanted = []] = (await embedder.embed({ texts: [query], purpose: "query" }, { signal })).vectors;
    return keys.map((key) => likeness(vectors.get(key) ?? [], wanted));
  }

  async function appended(owner: MemoryOwner, entries: readonly MemoryEntry[]): Promise<void> {
    const now = new Date(clock.now()).toISOString();
    const name = `${now.slice(0, 10)}.md`;
    const known = new Set(((await readMemoryFile(folder(owner), name)) ?? "").split("\n"));
    const fresh = entries.filter(({ key, sessionId }) => !known.has(markOf(sessionId, key)));
    const text = fresh.map(
      ({ text: body, sessionId, key }) =>
        `\n## ${now.slice(11, 16)} UTC, session ${sessionId}\n${markOf(sessionId, key)}\n${quoted(body)}\n`,
    );
    if (text.length > 0) await appendToMemoryFile(folder(owner), { name, text: text.join("") });
  }

  return {
    async search(owner, query, { signal, countMax = countMaxDefault }) {
      if (query.trim() === "") throw new AgentError("TOOL_ARGUMENTS", { message: "The query is empty.", fix: "Name what to look for." });
      const passages = await passagesOf(owner);
      if (passages.length === 0) return [];
      const words = wordScores(passages, query);
      const meaning = await meanings(
        passages.map(({ text }) => text),
        query,
        signal,
      );
      const now = clock.now();
      return passages
        .map((passage, place) => {
          const scores = { words: words[place] ?? 0, meaning: meaning[place], decay: decayOf(passage.file, now) };
          return { ...passage, score: joinedScore(scores) };
        })
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score || (a.file === b.file ? a.line - b.line : a.file < b.file ? 1 : -1))
        .slice(0, countMax);
    },
    read: (owner, file) => readMemoryFile(folder(owner), file),
    append(owner, entries) {
      // One after the other for each folder: each looks for entries that the one before has written.
      const key = folder(owner);
      const next = (appending.get(key) ?? Promise.resolve()).catch(() => {}).then(() => appended(owner, entries));
      appending.set(key, next);
      const forget = (): void => {
        if (appending.get(key) === next) appending.delete(key);
      };
      next.then(forget, forget);
      return next;
    },
  };
}

const keyOf = (text: string): string => createHash("sha256").update(text).digest("base64url");

const markOf = (sessionId: string, key: string): string => `<!-- ${sessionId} ${key.replace(/[^\w.-]/g, "_")} -->`;

/** As a quotation: no line of an entry can pass for a heading or a mark of the file. */
const quoted = (text: string): string =>
  text
    .trim()
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
