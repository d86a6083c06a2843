/** What tests of agents, tools and companions are made with. */

export { type BlobsUnderTest, blobStoreKit } from "./blob-store-kit.ts";
export type { ChannelUnderTest } from "./channel-under-test.ts";
export { type ClockUnderTest, clockKit } from "./clock-kit.ts";
export { type DraftsUnderTest, draftStoreKit } from "./draft-store-kit.ts";
export { eventChannelKit } from "./event-channel-kit.ts";
export { assertEventStream, type EventStreamOptions, type EventViolation, findEventViolation } from "./event-stream.ts";
export { type EventTree, readEventTree } from "./event-tree.ts";
export { executeKit } from "./execute-kit.ts";
export type { ExecutePlace, ExecuteUnderTest } from "./execute-under-test.ts";
export { type IdsUnderTest, idSourceKit } from "./id-source-kit.ts";
export type { IndexUnderTest } from "./index-under-test.ts";
export type { Kit, KitCase, KitOptions, KitRunner, KitVerdict, Lack } from "./kit.ts";
export { differenceOf, expectSame, expectThat, runKit, tryKit } from "./kit.ts";
export { leaseKit } from "./lease-kit.ts";
export type { LogUnderTest } from "./log-under-test.ts";
export { type LoggerUnderTest, loggerKit } from "./logger-kit.ts";
export { type ManualClock, manualClock } from "./manual-clock.ts";
export { modelProviderKit } from "./model-provider-kit.ts";
export { type CollectedAnswer, type CollectOptions, chunkFlaws, collectAnswer } from "./model-provider-kit-collect.ts";
export type { ModelProviderCase } from "./model-provider-kit-samples.ts";
export {
  type MakeModelProvider,
  type ModelProviderSubject,
  type WireAnswer,
  type WireCall,
  type WireFate,
  type WireRequest,
  type WireScript,
  type WireStop,
  wireErrorText,
} from "./model-provider-kit-wire.ts";
export { type OpaqueSamples, opaqueSamples } from "./opaque-samples.ts";
export { type PricesUnderTest, priceTableKit } from "./price-table-kit.ts";
export type { QueueUnderTest } from "./queue-under-test.ts";
export { requestsOfLog } from "./requests-of-log.ts";
export { runQueueKit } from "./run-queue-kit.ts";
export { runTool, type ToolTrial, type ToolTrialOptions } from "./run-tool.ts";
export { proveKit, type Saboteur } from "./saboteur.ts";
export { seededIds } from "./seeded-ids.ts";
export { seededRandom } from "./seeded-random.ts";
export { sessionIndexKit } from "./session-index-kit.ts";
export { sessionLogKit } from "./session-log-kit.ts";
export { type SimulatedStep, simulatedSession } from "./simulated-session.ts";
export type { Make, StoreCase, StoreKit } from "./store-case.ts";
export { type MakeTool, type ToolSubject, toolKit } from "./tool-kit.ts";
