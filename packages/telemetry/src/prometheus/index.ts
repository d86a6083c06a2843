/** Metrics in the text format of Prometheus, without a library. */
export { type PrometheusMetrics, type PrometheusOptions, prometheusMetrics } from "./prometheus-metrics.ts";
