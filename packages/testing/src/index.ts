/** The parts for tests of agents, tools and adapters. */

export { authenticatorKit } from "./authenticator/authenticator-kit.ts";
export {
  type AuthenticatorUnderTest,
  type KitCaller,
  kitCallers,
  type ServiceFate,
  type ServiceUnderTest,
  type StatedCaller,
  type StatedPrincipal,
} from "./authenticator/authenticator-under-test.ts";
export { blobStoreKit } from "./blobs/blob-store-kit.ts";
export type { BlobsUnderTest } from "./blobs/blobs-under-test.ts";
export { type CanaryForm, canaryForms } from "./canaries/canary-forms.ts";
export { type Canary, type CanaryFind, type CanaryScanner, type CanaryStream, canaryScanner } from "./canaries/canary-scanner.ts";
export type { ChannelUnderTest } from "./channel/channel-under-test.ts";
export { eventChannelKit } from "./channel/event-channel-kit.ts";
export { chatSurfaceKit } from "./chat/chat-surface-kit.ts";
export type { ShownMessage, StatedButton, StatedSurface, SurfaceUnderTest, VendorFate } from "./chat/surface-under-test.ts";
export { type ClockUnderTest, clockKit } from "./clock/clock-kit.ts";
export { type CounterUnderTest, tokenCounterKit } from "./counter/token-counter-kit.ts";
export { type EmbedderFate, type EmbedderUnderTest, embedderKit } from "./embedder/embedder-kit.ts";
export { assertEventStream, type EventStreamOptions, type EventViolation, findEventViolation } from "./events/event-stream.ts";
export { type EventTree, eventTree, readEventTree } from "./events/event-tree.ts";
export { executeKit } from "./execute/execute-kit.ts";
export type { ExecutePlace, ExecuteUnderTest } from "./execute/execute-under-test.ts";
export { type ExecutorTurn, type ExecutorUnderTest, executorKit } from "./executor/executor-kit.ts";
export { type IdsUnderTest, idSourceKit } from "./ids/id-source-kit.ts";
export { type ImageFate, type ImagesUnderTest, imageGeneratorKit, samplePng } from "./image/image-generator-kit.ts";
export type { IndexUnderTest } from "./index/index-under-test.ts";
export { sessionIndexKit } from "./index/session-index-kit.ts";
export type { Kit, KitCase, KitOptions, KitRunner, KitVerdict, Lack } from "./kit/kit.ts";
export { differenceOf, expectSame, expectThat, runKit, tryKit } from "./kit/kit.ts";
export { proveKit, type Saboteur } from "./kit/saboteur.ts";
export type { Make, StoreCase, StoreKit } from "./kit/store-case.ts";
export { leaseKit } from "./lease/lease-kit.ts";
export type { LedgerUnderTest } from "./ledger/ledger-under-test.ts";
export { ledgerKitLimits, usageLedgerKit } from "./ledger/usage-ledger-kit.ts";
export type { LogUnderTest, Tampering } from "./log/log-under-test.ts";
export { sessionLogKit } from "./log/session-log-kit.ts";
export { type LoggerUnderTest, loggerKit } from "./logger/logger-kit.ts";
export { type ComposedRun, type ComposeOptions, composedRun } from "./loop/composed-run.ts";
export { simulateLoop } from "./loop/loop-simulator.ts";
export { requestsOfLog } from "./loop/requests-of-log.ts";
export {
  type JoinedRun,
  joinedRun,
  type SimulatedExecution,
  type SimulatedMoment,
  type SimulatedRun,
  simulatedRuns,
} from "./loop/simulated-runs.ts";
export { type SimulatedStep, simulatedSession } from "./loop/simulated-session.ts";
export type { Simulation, SimulationOptions } from "./loop/simulation.ts";
export { type PricesUnderTest, priceTableKit } from "./prices/price-table-kit.ts";
export { type CollectedAnswer, type CollectOptions, chunkFlaws, collectAnswer } from "./provider/collect-answer.ts";
export { modelProviderKit } from "./provider/model-provider-kit.ts";
export type { ModelProviderCase } from "./provider/provider-samples.ts";
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
} from "./provider/wire.ts";
export type { QueueUnderTest } from "./queue/queue-under-test.ts";
export { runQueueKit } from "./queue/run-queue-kit.ts";
export { type OpaqueSamples, opaqueSamples } from "./samples/opaque-samples.ts";
export { type SecretsUnderTest, secretStoreKit } from "./secrets/secret-store-kit.ts";
export { type SnapshotsUnderTest, snapshotStoreKit } from "./snapshots/snapshot-store-kit.ts";
export { runTool, type ToolTrial, type ToolTrialOptions } from "./tool/run-tool.ts";
export { type MakeTool, type ToolSubject, toolKit } from "./tool/tool-kit.ts";
