import type { Job, JobCall, Turn } from "../job.ts";

const pieceMsMax = 6;
const toolMsMax = 120;

/**
 * A job for three children at once, one of them in the background; each of the others has one below it. At the bottom of the first a person is asked. The
 * same for the same random numbers.
 */
export function treeJob(id: string, random: () => number): Job {
  const below = (limit: number): number => Math.floor(random() * limit);
  const turn = (words: number, calls: readonly JobCall[] = []): Turn => ({
    words: 1 + below(words),
    gapMs: below(pieceMsMax + 1),
    ...(calls.length > 0 ? { calls } : {}),
  });
  const work = (tool: "pay" | "book" | "sign"): JobCall => ({ tool, ms: below(toolMsMax + 1) });
  const job = (name: string, calls: readonly JobCall[]): Job => ({ id: `${id}${name}`, turns: [turn(20, calls), turn(20)] });
  const give = (tool: JobCall["tool"], task: Job): JobCall => ({ tool, ms: 0, task });
  const middle = (name: string, last: JobCall): JobCall =>
    give("middle", job(name, [work("pay"), give("bottom", job(`${name}b`, [work("book"), last]))]));
  return {
    id,
    turns: [
      turn(10, [middle("m", work("sign")), middle("n", work("pay")), give("aside", job("a", [work("pay")]))]),
      turn(10, [work("pay")]),
      turn(20),
    ],
  };
}
