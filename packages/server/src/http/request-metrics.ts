/** Counts answered requests by method, route and status. */
export interface RequestMetrics {
  count(method: string, route: string, status: number): void;
  /** As lines of the Prometheus text format. */
  lines(): readonly string[];
}

export function createRequestMetrics(): RequestMetrics {
  const counts = new Map<string, number>();
  return {
    count(method, route, status) {
      const labels = `method="${method}",route="${route}",status="${status}"`;
      counts.set(labels, (counts.get(labels) ?? 0) + 1);
    },
    lines: () => [...counts].map(([labels, count]) => `loopwright_requests_total{${labels}} ${count}`),
  };
}
