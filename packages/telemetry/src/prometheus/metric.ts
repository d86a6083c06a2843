import { type Labelled, Series } from "./series.ts";

/** A metric in the text format of Prometheus. */
export interface Metric {
  lines(): readonly string[];
}

export interface Counter extends Metric {
  add(labels: Labelled, amount?: number): void;
}

export interface Histogram extends Metric {
  observe(labels: Labelled, seconds: number): void;
}

interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly seriesMax: number;
}

const head = ({ name, help }: MetricOptions, type: string): readonly string[] => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];

export function counter(options: MetricOptions): Counter {
  const series = new Series(options.seriesMax, () => ({ value: 0 }));
  return {
    add(labels, amount = 1) {
      series.of(labels).value += amount;
    },
    lines: () => [...head(options, "counter"), ...[...series].map(([labels, { value }]) => `${options.name}{${labels}} ${value}`)],
  };
}

/** Seconds, from a tenth of a second to ten minutes. */
const buckets: readonly number[] = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 300, 600];

export function histogram(options: MetricOptions): Histogram {
  const series = new Series(options.seriesMax, () => ({ counts: buckets.map(() => 0), count: 0, sum: 0 }));
  const { name } = options;
  return {
    observe(labels, seconds) {
      const value = series.of(labels);
      value.count += 1;
      value.sum += seconds;
      buckets.forEach((most, at) => {
        if (seconds <= most) value.counts[at] = (value.counts[at] ?? 0) + 1;
      });
    },
    lines: () => [
      ...head(options, "histogram"),
      ...[...series].flatMap(([labels, { counts, count, sum }]) => [
        ...buckets.map((most, at) => `${name}_bucket{${labels},le="${most}"} ${counts[at]}`),
        `${name}_bucket{${labels},le="+Inf"} ${count}`,
        `${name}_sum{${labels}} ${sum}`,
        `${name}_count{${labels}} ${count}`,
      ]),
    ],
  };
}
