/** One promise of a port, as something that can be run. */
export interface KitCase<Make> {
  /** A sentence that is true when the case passes. */
  readonly promise: string;
  /** What a subject must be able to do for the promise to mean anything to it. */
  readonly needs?: readonly string[];
  /** Resolves when the promise is kept, rejects with what was seen instead. `make` gives a fresh subject. */
  readonly run: (make: Make) => Promise<void>;
}

/** The promises of a port. */
export type Kit<Make> = readonly KitCase<Make>[];

/** Something that a subject rightly cannot do. */
export interface Lack {
  readonly capability: string;
  /** Shown with every case that is skipped for it. */
  readonly reason: string;
}

/** `it` of a test runner (vitest, node:test and others). */
export interface KitRunner {
  (title: string, body: () => Promise<void>): unknown;
  readonly skip: (title: string, body: () => Promise<void>) => unknown;
}

/** What a kit is run with. */
export interface KitOptions<Make> {
  readonly make: Make;
  readonly lacks?: readonly Lack[];
}

/** Registers every promise of a kit as one test. A case that needs what the subject lacks is skipped with the reason in its title. */
export function runKit<Make>(it: KitRunner, kit: Kit<Make>, options: KitOptions<Make>): void {
  for (const each of kit) {
    const lack = lackOf(each, options.lacks);
    if (lack) it.skip(`${each.promise} (skipped: ${lack.reason})`, () => Promise.resolve());
    else it(each.promise, () => each.run(options.make));
  }
}

/** What became of one promise. */
export interface KitVerdict {
  readonly promise: string;
  readonly outcome: "kept" | "broken" | "skipped";
  /** What was seen instead, or why it was skipped. */
  readonly reason?: string;
}

/** Tries every promise of a kit, one after the other, without a test runner. Never rejects. */
export async function tryKit<Make>(kit: Kit<Make>, options: KitOptions<Make>): Promise<readonly KitVerdict[]> {
  const verdicts: KitVerdict[] = [];
  for (const each of kit) {
    const { promise } = each;
    const lack = lackOf(each, options.lacks);
    if (lack) {
      verdicts.push({ promise, outcome: "skipped", reason: lack.reason });
      continue;
    }
    try {
      await each.run(options.make);
      verdicts.push({ promise, outcome: "kept" });
    } catch (error) {
      verdicts.push({ promise, outcome: "broken", reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return verdicts;
}

function lackOf<Make>(each: KitCase<Make>, lacks: readonly Lack[] = []): Lack | undefined {
  return lacks.find((lack) => each.needs?.includes(lack.capability));
}

/** Throws what was seen when a condition does not hold. */
export function expectThat(condition: boolean, seen: string): asserts condition {
  if (!condition) throw new Error(seen);
}

/** Throws when two JSON-like values differ; the order of keys and members that are `undefined` do not count. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const difference = differenceOf(actual, expected, what);
  if (difference !== undefined) throw new Error(difference);
}

/** In what two JSON-like values differ, as a sentence; `undefined` when they are the same in the sense of `expectSame`. */
export function differenceOf(actual: unknown, expected: unknown, what: string): string | undefined {
  const [got, wanted] = [canonical(actual), canonical(expected)];
  return got === wanted ? undefined : `${what}: expected ${shorten(wanted)}, got ${shorten(got)}`;
}

function canonical(value: unknown): string {
  const sorted = JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
  return sorted ?? "undefined";
}

function shorten(text: string): string {
  return text.length > 400 ? `${text.slice(0, 400)}… (${text.length} characters)` : text;
}
