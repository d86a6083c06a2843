import { isStreamed, type Recording } from "./recording.ts";

/** Streams longer than this add hours and no new place to cut at. */
const streamBytesMax = 12_000;

/** At most `count` streamed answers that ended well, the short ones first among those that show something the others do not. */
export function pickStreams(recordings: readonly Recording[], count: number): readonly Recording[] {
  const rest = recordings
    .filter((recording) => isStreamed(recording) && recording.response.status < 400 && !recording.truth.error)
    .filter(({ response }) => response.body.length <= streamBytesMax)
    .sort((a, b) => a.response.body.length - b.response.body.length || a.id.localeCompare(b.id));
  const picked: Recording[] = [];
  const seen = new Set<string>();
  while (picked.length < count && rest.length > 0) {
    const at = Math.max(
      0,
      rest.findIndex(({ tags }) => tags.some((tag) => !seen.has(tag))),
    );
    const [next] = rest.splice(at, 1);
    if (!next) break;
    picked.push(next);
    for (const tag of next.tags) seen.add(tag);
  }
  return picked;
}
