/** What the tests of a provider package are made with. Runs on Node.js only. */
export { type CutOptions, type CutReport, cutEverywhere } from "./cut-everywhere.ts";
export { type EmbedderTrial, type EmbedderTrials, type EmbedderWire, embedderUnderTest } from "./embedder-under-test.ts";
export { faultSuite } from "./fault-suite.ts";
export { type HostileReport, tryHostileBodies } from "./hostile-bodies.ts";
export { type ImageTrial, type ImageTrials, type ImageWire, imagesUnderTest } from "./images-under-test.ts";
export { type Asked, type LoopbackServer, loopbackServer } from "./loopback-server.ts";
export { type OddShapes, type OddShapesReport, tryOddShapes } from "./odd-shapes.ts";
export { pickStreams } from "./pick-streams.ts";
export { type ProviderUnderTest, providerUnderTest } from "./provider-under-test.ts";
export { type RechunkOptions, type RechunkReport, rechunk } from "./rechunk.ts";
export type { RecordedCall, RecordedTruth, Recording, RecordingsPlace, Replay, ReplayedRequest, ReplayOptions } from "./recording.ts";
export { findRecordings, isStreamed, loadRecordings, startReplay } from "./recording.ts";
export type { RecordingSource, RecordingSuiteOptions, SuiteRunner } from "./recording-suite.ts";
export { chunkings, recordingSuite } from "./recording-suite.ts";
export { roughHistory } from "./rough-history.ts";
export { errorDifferences, truthDifferences } from "./truth-differences.ts";
export type { VendorWire, WireFailure, WireFrame } from "./vendor-wire.ts";
export { type WireResponse, type WireServer, type WireStep, wireServer } from "./wire-server.ts";
