/** Counts the responses by method, route and status. */
export interface RequestMetrics {
  count(method: string, route: string, status: number): void;
  /** Counts a cursor that is ahead of its log. Any client may send an invented cursor. */
  cursorAhead(): void;
  /** The counts as lines of the Prometheus text format. */
  lines(): readonly string[];
}

export function createRequestMetrics(): RequestMetrics {
  const counts = new Map<string, number>();
  let aheadCount = 0;
  return {
    count(method, route, status) {
      const labels = `method="${method}",route="${route}",status="${status}"`;
      counts.set(labels, (counts.get(labels) ?? 0) + 1);
    },
    cursorAhead() {
      aheadCount += 1;
    },
    lines: () => [
      "# HELP loopwright_cursors_ahead_total Cursors that were ahead of their log: made up, or of a loss that no process here has seen.",
      "# TYPE loopwright_cursors_ahead_total counter",
      `loopwright_cursors_ahead_total ${aheadCount}`,
      "# HELP loopwright_requests_total Answered requests.",
      "# TYPE loopwright_requests_total counter",
      ...[...counts].map(([labels, count]) => `loopwright_requests_total{${labels}} ${count}`),
    ],
  };
}
