import { AgentError } from "@loopwright/core";
import { configLimits } from "./policy-source.ts";

/** @throws AgentError INPUT_INVALID for a key or a text that no store takes */
export function checkEntry(key: string, text: string): void {
  if (key === "" || key.length > configLimits.keyMax) throw invalid(`The key of an entry has 1 to ${configLimits.keyMax} characters.`);
  if (text.length > configLimits.textMax) throw invalid(`The text of an entry has at most ${configLimits.textMax} characters.`);
}

const invalid = (message: string): AgentError => new AgentError("INPUT_INVALID", { message, fix: "Use a shorter one." });
