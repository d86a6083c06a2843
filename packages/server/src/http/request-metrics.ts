/** Counts what was answered, by method, route and status. */
export interface RequestMetrics {
  count(method: string, route: string, status: number): void;
  /** A reader knows more of a session than the store. */
  historyLost(): void;
  /** As lines of the Prometheus text format. */
  lines(): readonly string[];
}

export function createRequestMetrics(): RequestMetrics {
  const counts = new Map<string, number>();
  let lostCount = 0;
  return {
    count(method, route, status) {
      const labels = `method="${method}",route="${route}",status="${status}"`;
      counts.set(labels, (counts.get(labels) ?? 0) + 1);
    },
    historyLost() {
      lostCount += 1;
    },
    lines: () => [
      "# HELP loopwright_history_lost_total Readers who knew more of a session than the store.",
      "# TYPE loopwright_history_lost_total counter",
      `loopwright_history_lost_total ${lostCount}`,
      "# HELP loopwright_requests_total Answered requests.",
      "# TYPE loopwright_requests_total counter",
      ...[...counts].map(([labels, count]) => `loopwright_requests_total{${labels}} ${count}`),
    ],
  };
}
