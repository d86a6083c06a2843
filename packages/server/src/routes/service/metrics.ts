import { type Agent, hookCounts } from "@loopwright/core";
import { redactedCause } from "../../redact-cause-for-log.ts";
import type { Route } from "../../request/route.ts";
import type { ServerContext } from "../../server-context.ts";

/** The lines of one value: help, kind, and the value. */
const gauge = (name: string, help: string, value: number): readonly string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} gauge`,
  `${name} ${value}`,
];

export const metricsRoute: Route = {
  method: "GET",
  path: "/metrics",
  id: "metrics",
  summary: "The metrics of this process in the text format of Prometheus.",
  access: "principal",
  action: "server.metrics",
  responses: { 200: { description: "Lines of text." } },
  async handle({ server, principal }) {
    const { host, streams, metrics, watched, options } = server;
    const lines = [
      ...gauge("loopwright_runs_active", "Sessions that run in this process.", host.running),
      ...gauge("loopwright_sessions_loaded", "Sessions that this process holds.", host.loaded),
      ...gauge("loopwright_sse_clients", "Open event streams.", streams.open),
      ...gauge("loopwright_sse_queue_bytes_max", "Bytes that wait in this process for the slowest reader.", streams.longestQueueBytes),
      ...gauge(
        "loopwright_store_unfit",
        "1 while the store is not fit for use, for example because it may lose data; else 0.",
        watched.flaw ? 1 : 0,
      ),
      "# HELP loopwright_damaged_sessions_total Sessions whose log was found damaged or without its end, by code.",
      "# TYPE loopwright_damaged_sessions_total counter",
      ...[...watched.damages].map(([code, count]) => `loopwright_damaged_sessions_total{code="${code}"} ${count}`),
      "# HELP loopwright_hook_verdicts_total Verdicts of hooks in this process, also those that changed nothing.",
      "# TYPE loopwright_hook_verdicts_total counter",
      ...options.agents.flatMap(verdictLines),
      ...metrics.lines(),
    ];
    const more = options.authorize || principal.trusted ? await linesOf(server) : "";
    return new Response(`${lines.join("\n")}\n${more}`, { headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" } });
  },
};

/** The lines of the application, each with its end; empty for none. */
async function linesOf({ options, logger }: ServerContext): Promise<string> {
  try {
    const text = (await options.metrics?.()) ?? "";
    return text === "" || text.endsWith("\n") ? text : `${text}\n`;
  } catch (cause) {
    logger.log("error", "`metrics` threw an error, so its lines are missing.", redactedCause(cause));
    return "";
  }
}

/** One line for each hook, point and action. Only the name of a hook may hold characters that a label must escape. */
function verdictLines(agent: Agent): readonly string[] {
  return [...hookCounts(agent)].map(([key, count]) => {
    const [, hook = "", point, action] = /^(.*)\/([^/]*)\/([^/]*)$/s.exec(key) ?? [];
    const labels = [
      ["agent", agent.name],
      ["hook", hook],
      ["point", point],
      ["action", action],
    ].map(([name, value = ""]) => `${name}="${value.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`);
    return `loopwright_hook_verdicts_total{${labels.join(",")}} ${count}`;
  });
}
