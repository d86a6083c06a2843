/** What sessions cost and how long they took: the routes of `@loopwright/telemetry`, of servers that have them. */
export {
  type CacheFinding,
  type CachePage,
  type LatencyFigures,
  type ModelFigures,
  type Quota,
  type QuotaAmount,
  type TelemetryRequests,
  type ToolFigures,
  telemetryRequests,
  type UsageDimension,
  type UsageQuestion,
  type UsageSum,
} from "./telemetry-requests.ts";
