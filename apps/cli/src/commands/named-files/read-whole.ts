import { readFile, stat } from "node:fs/promises";
import { AgentError } from "@loopwright/core";
import { oneLine } from "../../terminal/neutralise.ts";

/** What servers take, at most. */
const bytesMax = 10 * 1024 * 1024;

/** The bytes of a file that was named. @throws AgentError INPUT_INVALID for one that cannot be read, PAYLOAD_TOO_LARGE */
export async function readWhole(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const named = `\`${oneLine(path, 200)}\``;
  try {
    const { size } = await stat(path);
    if (size > bytesMax)
      throw new AgentError("PAYLOAD_TOO_LARGE", {
        message: `The file ${named} has more than ${bytesMax} bytes.`,
        fix: "Split it, or take a smaller one.",
      });
    return new Uint8Array(await readFile(path));
  } catch (cause) {
    if (cause instanceof AgentError) throw cause;
    throw new AgentError("INPUT_INVALID", {
      message: `The file ${named} cannot be read.`,
      fix: "Check its path and its permissions.",
      cause,
    });
  }
}
