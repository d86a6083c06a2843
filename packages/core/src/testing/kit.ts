/** One promise of a port, as something that can be run. `Script` is what a fresh subject is made from, where one is made from something. */
export interface KitCase<Subject, Script = void> {
  /** Unique in its kit, stable; what a saboteur names. */
  readonly id: string;
  /** A sentence that is true when the case passes. */
  readonly promise: string;
  /** What a subject must be able to do for the promise to mean anything to it. */
  readonly needs?: string;
  /** Resolves when the promise is kept, rejects with what was seen instead. `make` gives a fresh subject at each call. */
  readonly run: (make: (script: Script) => Promise<Subject>) => Promise<void>;
}

/** The promises of a port. */
export type Kit<Subject, Script = void> = readonly KitCase<Subject, Script>[];

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
export interface KitOptions<Subject, Script = void> {
  readonly make: (script: Script) => Subject | Promise<Subject>;
  readonly lacks?: readonly Lack[];
}

/** Registers every promise of a kit as one test. A case that needs what the subject lacks is skipped with the reason in its title. */
export function runKit<Subject, Script = void>(it: KitRunner, kit: Kit<Subject, Script>, options: KitOptions<Subject, Script>): void {
  const make = async (script: Script): Promise<Subject> => options.make(script);
  for (const each of kit) {
    const lack = lackOf(each, options.lacks);
    if (lack) it.skip(`${each.promise} (skipped: ${lack.reason})`, () => Promise.resolve());
    else it(each.promise, () => each.run(make));
  }
}

/** What became of one promise. */
export interface KitVerdict {
  readonly id: string;
  readonly promise: string;
  readonly outcome: "kept" | "broken" | "skipped";
  /** What was seen instead, or why it was skipped. */
  readonly reason?: string;
}

/** Tries every promise of a kit, one after the other, without a test runner. Never rejects. */
export async function tryKit<Subject, Script = void>(
  kit: Kit<Subject, Script>,
  options: KitOptions<Subject, Script>,
): Promise<readonly KitVerdict[]> {
  const make = async (script: Script): Promise<Subject> => options.make(script);
  const verdicts: KitVerdict[] = [];
  for (const each of kit) {
    const { id, promise } = each;
    const lack = lackOf(each, options.lacks);
    if (lack) {
      verdicts.push({ id, promise, outcome: "skipped", reason: lack.reason });
      continue;
    }
    try {
      await each.run(make);
      verdicts.push({ id, promise, outcome: "kept" });
    } catch (error) {
      verdicts.push({ id, promise, outcome: "broken", reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return verdicts;
}

function lackOf(each: { readonly needs?: string }, lacks: readonly Lack[] = []): Lack | undefined {
  return lacks.find(({ capability }) => capability === each.needs);
}
