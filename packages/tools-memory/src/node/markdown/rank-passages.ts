import { searchWords } from "@loopwright/core/stores";

/** A part of a memory file. */
export interface MemoryPassage {
  readonly file: string;
  /** Of its first line, from 1. */
  readonly line: number;
  readonly text: string;
}

export interface RankedPassage extends MemoryPassage {
  /** From 0 to 1. */
  readonly score: number;
}

export const passageLimits: { readonly characters: number; readonly passagesMax: number } = {
  /** Of one passage; longer paragraphs are cut into several. */
  characters: 2_000,
  /** Passages that one search compares, those of the curated file and of the newest days first. */
  passagesMax: 5_000,
};

/** The weights of meaning and of words where there is an embedder; without one words decide alone. */
const meaningShare = 0.7;
const halfLifeDays = 7;
const dayMs = 86_400_000;

/** The paragraphs of a file. A heading belongs to the paragraph below it, and lines that are comments to none. */
export function passagesOfFile(file: string, text: string): readonly MemoryPassage[] {
  const passages: MemoryPassage[] = [];
  let lines: string[] = [];
  let first = 1;
  const end = (): void => {
    const whole = lines.join("\n").trim();
    for (let at = 0; at < whole.length; at += passageLimits.characters)
      passages.push({ file, line: first, text: whole.slice(at, at + passageLimits.characters) });
    lines = [];
  };
  for (const [index, line] of text.split("\n").entries()) {
    const isHeading = /^#{1,6} /.test(line);
    const isAlone = lines.length > 0 && lines.every((one) => /^#{1,6} /.test(one));
    if (isHeading || (line.trim() === "" && !isAlone)) end();
    if (line.trim() === "" || /^<!--.*-->$/.test(line)) continue;
    if (lines.length === 0) first = index + 1;
    lines.push(line);
  }
  end();
  return passages;
}

/** The share of the query that each passage holds: of its words, weighted by how few passages have them. */
export function wordScores(passages: readonly MemoryPassage[], query: string): readonly number[] {
  const words = [...new Set(searchWords(query))];
  const held = passages.map(({ text }) => {
    const own = searchWords(text);
    return words.map((word) => own.some((one) => one.startsWith(word)));
  });
  const weights = words.map((_, place) => Math.log(1 + passages.length / (1 + held.filter((has) => has[place]).length)));
  const most = weights.reduce((sum, weight) => sum + weight, 0);
  return held.map((has) => (most === 0 ? 0 : weights.reduce((sum, weight, place) => sum + (has[place] ? weight : 0), 0) / most));
}

/** How alike two vectors point, from 0 to 1. */
export function likeness(a: readonly number[], b: readonly number[]): number {
  let [dot, first, second] = [0, 0, 0];
  for (const [place, value] of a.entries()) {
    const other = b[place] ?? 0;
    dot += value * other;
    first += value * value;
    second += other * other;
  }
  return first === 0 || second === 0 ? 0 : Math.max(0, dot / Math.sqrt(first * second));
}

/** The share that age leaves: half of it after a week. What people curate does not age. */
export function decayOf(file: string, now: number): number {
  const day = Date.parse(file.slice(0, 10));
  return Number.isNaN(day) ? 1 : 0.5 ** (Math.max(0, now - day - dayMs) / (halfLifeDays * dayMs));
}

/** Both scores joined and aged. Nothing that neither finds is given. */
export function joinedScore({
  words,
  meaning,
  decay,
}: {
  readonly words: number;
  readonly meaning: number | undefined;
  readonly decay: number;
}): number {
  return (meaning === undefined ? words : meaningShare * meaning + (1 - meaningShare) * words) * decay;
}
