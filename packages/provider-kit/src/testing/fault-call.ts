import { type CollectedAnswer, collectAnswer } from "@loopwright/testing";
import type { Recording, Replay, ReplayOptions } from "./recording.ts";
import { type RecordingSuiteOptions, requestFor } from "./recording-suite.ts";

/** What one case of the faults is played with. */
export interface FaultContext {
  readonly options: RecordingSuiteOptions;
  readonly recording: Recording;
  readonly replay: Replay;
}

/** Calls the model once while the replay server answers with the given fault. */
export function callWith(
  { options, recording, replay }: FaultContext,
  replayOptions: ReplayOptions,
  signal?: AbortSignal,
): Promise<CollectedAnswer> {
  const provider = options.make(replay.baseUrl(recording, replayOptions), recording);
  return collectAnswer(provider, requestFor(options, recording), signal ? { signal } : {});
}
