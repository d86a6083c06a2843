/** The session that looks at earlier searches. */
export interface SearchPlace {
  readonly scope: string;
  readonly session: string;
}

/** The searches of one research, which its session names, so that no researcher repeats one. */
export interface SearchHistory {
  add(research: string, query: string): void | Promise<void>;
  list(research: string, place?: SearchPlace): readonly string[] | Promise<readonly string[]>;
}

/** How many researches are kept, and how many searches of each. */
const kept = { researches: 1_000, searches: 500 } as const;

/** A history of this process: over several processes, and after a restart, `searchesInLog` has all of them. The oldest researches are dropped after 1,000, and of each the searches after the first 500. */
export function memorySearchHistory(): SearchHistory {
  const all = new Map<string, Set<string>>();
  return {
    add(research, query) {
      const queries = all.get(research) ?? new Set<string>();
      if (queries.size < kept.searches) queries.add(query);
      all.delete(research);
      all.set(research, queries);
      const [oldest] = all.keys();
      if (all.size > kept.researches && oldest !== undefined) all.delete(oldest);
    },
    list: (research) => [...(all.get(research) ?? [])],
  };
}
