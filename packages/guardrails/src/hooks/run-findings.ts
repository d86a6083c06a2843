import type { Finding } from "../checks/finding.ts";

/** What the filter has hidden of one answer or one call. */
export type HiddenRules = ReadonlyMap<string, Finding>;

/** Which rules have hidden something of a text, until the hook that records it is asked. */
export interface RunFindings {
  add(run: string, place: string, findings: readonly Finding[]): void;
  /** `keep`: another hook asks for the same place. */
  take(run: string, place: string, options?: { readonly keep?: boolean }): HiddenRules;
  end(run: string): void;
}

/** Runs whose end this process does not see, because another one continued them, are dropped when there are so many younger ones. */
const runsMax = 10_000;
const nothing: HiddenRules = new Map();

export function runFindings(): RunFindings {
  const runs = new Map<string, Map<string, Map<string, Finding>>>();
  return {
    add(run, place, findings) {
      if (findings.length === 0) return;
      const places = runs.get(run) ?? new Map<string, Map<string, Finding>>();
      const rules = places.get(place) ?? new Map<string, Finding>();
      for (const finding of findings) rules.set(finding.rule, finding);
      places.set(place, rules);
      runs.set(run, places);
      if (runs.size > runsMax) for (const oldest of [...runs.keys()].slice(0, runs.size - runsMax)) runs.delete(oldest);
    },
    take(run, place, { keep = false } = {}) {
      const places = runs.get(run);
      const rules = places?.get(place);
      if (!keep) places?.delete(place);
      return rules ?? nothing;
    },
    end: (run) => void runs.delete(run),
  };
}
