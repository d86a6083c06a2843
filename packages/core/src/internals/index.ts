/** Internals of core that `@loopwright/testing` needs. For that package alone: any version may change them. */

export { createStreamedAnswers, type StreamedLane } from "../driver/live/streamed-answers.ts";
export { foldReadFacts } from "../driver/log/fold-read-facts.ts";
export { createModelPublisher } from "../driver/model/publish-model-events.ts";
export { snapshotOf } from "../driver/session/public-snapshot.ts";
export { lastNumber } from "../loop/answer-still-to-publish.ts";
export { type AppendList, at } from "../loop/append-list.ts";
export { firingKey } from "../loop/due-schedules.ts";
export type { Effect } from "../loop/effect.ts";
export type { DurableBody, EphemeralBody } from "../loop/event.ts";
export { eventsOf } from "../loop/events-of.ts";
export type { CallResult } from "../loop/fact.ts";
export { type ToolPolicies, toolsShown } from "../loop/facts/tool-policy.ts";
export { fold } from "../loop/fold.ts";
export { plan } from "../loop/plan.ts";
export {
  type Call,
  emptyState,
  endOf,
  isAtRest,
  isAwaited,
  type KnownDecision,
  type Schedule,
  type State,
} from "../loop/state.ts";
export { transcriptOf } from "../loop/transcript.ts";
export { countedMemoryStore } from "../memory/store/memory-store.ts";
export { digestOf } from "../message/digest.ts";
export { createRequestBuilder, type RequestBuilder } from "../prompt/request-builder.ts";
export { collectOutput } from "../tools/collect-tool-output.ts";
export { toolFailure } from "../tools/tool-failure.ts";
export { toolLimits } from "../tools/tool-limits.ts";
export { type AnyTool, specOf } from "../tools/tool-registry.ts";
export { validateArguments } from "../tools/validate-arguments.ts";
